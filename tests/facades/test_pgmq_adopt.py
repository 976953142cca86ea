"""howdah facade adopt pgmq: a real pgmq's queues become queues of Howdah."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support import Connect, Db, one, wait_until

from howdah.migrations import MigrationError, add_facade, adopt_pgmq, remove_facade

pytestmark = pytest.mark.own_database


@pytest.fixture
def real(db: Db) -> None:
    """The real pgmq, with a queue of which some messages are read, hidden, archived or deleted."""
    db.execute((files("pgmq") / "sql" / "pgmq.sql").read_bytes())
    db.execute("select pgmq.create('Tasks'); select pgmq.create('empty'); select pgmq.create('used')")
    db.execute(
        "select pgmq.send('Tasks', jsonb_build_object('n', n), '{\"h\": 1}'::jsonb) from generate_series(1, 9) n"
    )
    db.execute("select pgmq.delete('Tasks', array[1, 2]::bigint[]); select pgmq.archive('Tasks', 3)")
    db.execute("select pgmq.read('Tasks', 0, 1); select pgmq.read('Tasks', 3600, 1)")
    db.execute(
        "select pgmq.send('Tasks', '{\"late\": true}', 7200); select pgmq.send('Tasks', to_jsonb(repeat('x', 9000)))"
    )
    db.execute("select pgmq.send('used', '{}'); select pgmq.pop('used')")
    db.execute("select pgmq.bind_topic('a.#', 'empty'); select pgmq.enable_notify_insert('empty', 5)")


def rows(db: Db) -> list[list[tuple[object, ...]]]:
    """What is there. The vt of a message that nobody has hidden is when it was sent, to the millisecond."""
    shown = (
        "msg_id, read_ct, enqueued_at, last_read_at, case when read_ct > 0 or vt > now() then vt end, message, headers"
    )
    queues = [db.execute(f"select {shown} from pgmq.{view} order by 1").fetchall() for view in ("q_tasks", "q_empty")]
    return queues + [
        db.execute(f"select * from pgmq.{table} order by 1").fetchall()
        for table in ("a_tasks", "meta", "topic_bindings", "notify_insert_throttle")
    ]


@pytest.mark.usefixtures("real")
def test_queues_come_over_as_they_are_and_go_on(db: Db, dsn: str) -> None:
    before = rows(db)
    assert adopt_pgmq(dsn) == {"Tasks": 8, "empty": 0, "used": 0}
    after = rows(db)
    # created_at is of the day when the queue became one of Howdah's
    assert [row[:3] for row in after.pop(3)] == [row[:3] for row in before.pop(3)]
    assert after == before
    assert db.execute("select pgmq.send('Tasks', '{}'), pgmq.send('used', '{}')").fetchone() == (12, 2)
    # 4 was read twice, the second time for an hour; 10 is delayed
    read = db.execute("select msg_id, read_ct from pgmq.read('Tasks', 30, 20)").fetchall()
    assert read == [(number, 1) for number in (5, 6, 7, 8, 9, 11, 12)]
    assert one(db, "select read_ct from pgmq.set_vt('Tasks', 4, 0)") == 2
    assert one(db, "select count(*) from pg_namespace where nspname ~ 'pgmq_before'") == 0
    with pytest.raises(MigrationError, match="no pgmq"):
        adopt_pgmq(dsn)


@pytest.mark.usefixtures("real")
def test_a_queue_that_is_being_made_comes_over_too(db: Db, dsn: str, connect: Connect) -> None:
    maker = connect()
    adopted: list[dict[str, int]] = []
    with maker.transaction():
        maker.execute("select pgmq.create('new'); select pgmq.send('new', '1')")
        thread = threading.Thread(target=lambda: adopted.append(adopt_pgmq(dsn)))
        thread.start()
        wait_until(lambda: one(db, "select count(*) from pg_locks where not granted") > 0)
    thread.join(60)
    assert adopted[0]["new"] == 1
    assert one(db, "select message from pgmq.q_new") == 1


@pytest.mark.usefixtures("real")
def test_what_is_no_queue_of_pgmqs_is_not_dropped_with_its_schema(db: Db, dsn: str) -> None:
    """As what pgmq's own convert_archive_partitioned leaves: all archived messages."""
    db.execute("create table pgmq.a_tasks_old (like pgmq.a_tasks); create view pgmq.mine as select 1")
    before = rows(db)
    with pytest.raises(MigrationError, match="a_tasks_old, mine"):
        adopt_pgmq(dsn)
    assert rows(db) == before


@pytest.mark.usefixtures("real")
def test_names_that_differ_in_case_are_one_queue_and_a_name_without_its_table_is_none(db: Db, dsn: str) -> None:
    db.execute("select pgmq.create('tasks'); select pgmq.create('Gone'); select pgmq.drop_queue('gone')")
    archived = db.execute("select * from pgmq.a_tasks").fetchall()
    assert sorted(adopt_pgmq(dsn).values()) == [0, 0, 8]
    assert db.execute("select * from pgmq.a_tasks").fetchall() == archived


@pytest.mark.usefixtures("real")
def test_times_without_end_get_one(db: Db, dsn: str) -> None:
    db.execute("select pgmq.set_vt('Tasks', 5, 'infinity'::timestamptz)")
    adopt_pgmq(dsn)
    assert one(db, "select vt from pgmq.q_tasks where msg_id = 5").year in (9998, 9999)


@pytest.mark.usefixtures("real")
def test_a_name_that_is_taken_changes_nothing(db: Db, dsn: str) -> None:
    db.execute("select howdah.create_queue('used')")
    before = rows(db)
    with pytest.raises(MigrationError, match="'used'"):
        adopt_pgmq(dsn)
    assert rows(db) == before


@pytest.mark.usefixtures("real")
def test_who_may_not_drop_it_changes_nothing(db: Db, dsn: str) -> None:
    db.execute("drop role if exists adopter; create role adopter login password 'x' in role howdah_owner, howdah_admin")
    before = rows(db)
    try:
        with pytest.raises((MigrationError, psycopg.Error), match=r"may not act|permission denied"):
            adopt_pgmq(make_conninfo(dsn, user="adopter", password="x"))
        assert rows(db) == before
    finally:
        db.execute("drop role adopter")


@pytest.fixture
def extension(db: Db, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """CREATE EXTENSION pgmq with its published SQL. Before PostgreSQL 18 this needs a file in the server's folders."""
    if db.info.server_version < 180000:
        pytest.skip("no extension_control_path before PostgreSQL 18")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:  # which the server's user may read
        folder = Path(place) / "extension"
        folder.mkdir()
        (folder / "pgmq.control").write_text(
            "default_version = '1.13.0'\nrelocatable = false\nsuperuser = false\nschema = pgmq\n", encoding="utf-8"
        )
        (folder / "pgmq--1.13.0.sql").write_bytes((files("pgmq") / "sql" / "pgmq.sql").read_bytes())
        for path in (Path(place), folder, *folder.iterdir()):
            path.chmod(0o755)
        db.execute(f"set extension_control_path = '{place}:$system'".encode())
        db.execute("create extension pgmq")
        yield


@pytest.mark.usefixtures("extension")
def test_a_real_extension_is_adopted_and_gone(db: Db, dsn: str) -> None:
    db.execute("select pgmq.create('Tasks'); select pgmq.create_unlogged('brief')")
    db.execute("select pgmq.send_batch('Tasks', array['1', '2', '3']::jsonb[]); select pgmq.send('brief', '4')")
    db.execute("select pgmq.read('Tasks', 0, 1); select pgmq.archive('Tasks', 2)")
    # older releases made each table a member of the extension
    db.execute("alter extension pgmq add table pgmq.q_tasks; alter extension pgmq add table pgmq.a_tasks")
    assert adopt_pgmq(dsn) == {"Tasks": 2, "brief": 1}
    assert one(db, "select count(*) from pg_extension where extname = 'pgmq'") == 0
    assert db.execute("select msg_id, read_ct, message from pgmq.read('Tasks', 30, 5)").fetchall() == [
        (1, 2, 1),
        (3, 1, 3),
    ]
    assert db.execute("select msg_id, message from pgmq.a_tasks").fetchall() == [(2, 2)]
    assert one(db, "select pgmq.send('Tasks', '5')") == 4


@pytest.mark.usefixtures("extension")
def test_an_extension_on_which_something_stands_is_refused_whole(db: Db, dsn: str) -> None:
    db.execute("select pgmq.create('tasks'); select pgmq.send('tasks', '1')")
    db.execute("create view public.mine as select msg_id from pgmq.q_tasks")
    with pytest.raises(MigrationError, match="mine"):
        adopt_pgmq(dsn)
    assert one(db, "select count(*) from pg_extension where extname = 'pgmq'") == 1
    assert db.execute("select msg_id from public.mine").fetchall() == [(1,)]


def test_a_facade_on_which_something_stands_is_not_removed(db: Db, dsn: str) -> None:
    add_facade(dsn, "pgmq")
    add_facade(dsn, "pgmq_public")
    db.execute("select pgmq.create('tasks'); create table public.seen (message pgmq.message_record, at timestamptz)")
    with pytest.raises(MigrationError, match=r"message of table .*seen"):
        remove_facade(dsn, "pgmq")
    db.execute("select pgmq.send('tasks', '1'); drop table public.seen")
    remove_facade(dsn, "pgmq")
    assert one(db, "select count(*) from pg_namespace where nspname ~ 'pgmq'") == 0
