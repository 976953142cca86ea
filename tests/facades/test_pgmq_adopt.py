"""howdah facade adopt pgmq: a real pgmq's queues become queues of Howdah."""

from __future__ import annotations

from importlib.resources import files

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support import Db, one

from howdah.migrations import MigrationError, adopt_pgmq

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
