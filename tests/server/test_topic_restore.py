"""Dump and restore of topics.

In the same cluster cursors go on; in another one nothing is read before they are rebased.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from support import Db, Server, column, identifier, one, refused

from howdah.engine.embedded import EmbeddedServer, EmbeddedServerError
from howdah.engine.embedded.programs import Account
from howdah.migrations import migrate

#: What each subscription has not read when the database is dumped, by the bodies of the messages.
UNREAD = {
    "t::all": ["late 1", "late 2", "5", "6", "7"],
    "t::some": ["late 1", "late 2", "3", "4", "5", "6", "7"],
    "t::shared": ["late 1", "late 2", "3", "5", "6", "7"],
    "t::odd": ["7"],
    ">::wild": ["7", "u"],
    "t::new": [],
}


def copy(source: str, target: str, server: EmbeddedServer, folder: Path, *options: str) -> None:
    """pg_dump and pg_restore the schema of Howdah."""
    file = folder / "dump"
    subprocess.run([server.bin("pg_dump"), *options, "-Fc", "-n", "howdah", "-f", file, source], check=True)
    subprocess.run([server.bin("pg_restore"), "--exit-on-error", "-d", target, file], check=True)


@pytest.fixture
def filled(dsn: str) -> str:
    """A database with subscriptions that stand at different places, in more than one table of the ring."""
    fill(dsn)
    return dsn


def fill(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as db, psycopg.connect(dsn) as late:
        for topic in ("t", "u"):
            one(db, "select howdah.create_topic(%s)", (topic,))
        one(db, "select howdah.subscribe('t', 'all')")
        one(db, "select howdah.subscribe('t', 'some')")
        one(db, "select howdah.subscribe('t', 'shared', shared => true)")
        one(db, "select howdah.subscribe('t', 'odd', selector => 'odd = true')")
        one(db, "select howdah.subscribe('>', 'wild')")
        one(late, "select howdah.send_batch('t', array['late 1', 'late 2'])")
        for n in range(1, 5):
            one(
                db,
                "select howdah.send('t', %s::text, headers => %s::jsonb)",
                (str(n), f'{{"odd": {str(n % 2 == 1).lower()}}}'),
            )
            if n == 2:
                db.execute("update howdah.topic_ring set opened_at = '-infinity' where state = 'open'")
                one(db, "select howdah.maintain_topics()")
        assert bodies(db, "t::all") == ["1", "2", "3", "4"]
        assert bodies(db, "t::some", 2) == ["1", "2"]
        assert bodies(db, "t::shared", 2) == ["1", "2"]
        with db.transaction():
            held = db.execute(
                "select message_id, priority, position from howdah.receive_locked('t::shared', 2)"
            ).fetchall()
            db.execute(
                "select howdah.consume_locked('t::shared', array[%s]::bigint[], array[%s], array[%s]::bigint[])",
                held[1],
            )
        late.commit()
        for n in (5, 6):
            one(db, "select howdah.send('t', %s::text)", (str(n),))
        assert bodies(db, "t::odd") == ["1", "3"]
        assert bodies(db, ">::wild") == ["late 1", "late 2", "1", "2", "3", "4", "5", "6"]
        one(db, "select howdah.send('t', '7', headers => '{\"odd\": true}')")
        one(db, "select howdah.send('u', 'u')")
        one(db, "select howdah.subscribe('t', 'new')")


def bodies(db: Db, subscription: str, number: int = 100) -> list[str]:
    return column(db, "select body from howdah.receive(%s, %s)", (subscription, number))


def check(db: Db) -> None:
    """Each subscription gets what it had not read, and then what is published."""
    for name, unread in UNREAD.items():
        assert sorted(bodies(db, name)) == sorted(unread), name
        assert bodies(db, name) == []
    one(db, "select howdah.send('t', 'next', headers => '{\"odd\": true}')")
    for _ in range(4):
        db.execute("update howdah.topic_ring set opened_at = '-infinity' where state = 'open'")
        one(db, "select howdah.maintain_topics()")
    assert [bodies(db, name) for name in UNREAD] == [["next"]] * len(UNREAD)


@pytest.mark.slow
def test_in_the_same_cluster_cursors_go_on(
    server: Server, filled: str, new_database: Callable[[], str], tmp_path: Path
) -> None:
    if server.embedded is None:
        pytest.skip("pg_dump of the server's version is needed")
    target = new_database()
    copy(filled, target, server.embedded, tmp_path)
    with psycopg.connect(target, autocommit=True) as db:
        refused(db, "HD005", "select howdah.rebase_topics()")
        check(db)
    with psycopg.connect(filled, autocommit=True) as db:
        check(db)


@pytest.mark.slow
@pytest.mark.parametrize(("left_out", "restarted"), [(False, False), (True, False), (False, True)])
def test_a_dump_has_non_persistent_messages_unless_told_and_only_the_same_run_of_the_server_delivers_them(
    private_server: EmbeddedServer, tmp_path: Path, left_out: bool, restarted: bool
) -> None:
    server = private_server
    dsn = server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.create_topic('t')")
        one(db, "select howdah.subscribe('t', 's')")
        for name in ("q", "t"):
            one(db, "select howdah.send(%s, 'x', delivery_mode => 'non-persistent')", (name,))
        db.execute("create database copy")
    copy(dsn, make_conninfo(dsn, dbname="copy"), server, tmp_path, *["--no-unlogged-table-data"] * left_out)
    if restarted:
        server.stop()
    with psycopg.connect(server.start().dsn, dbname="copy", autocommit=True) as db:
        got = [bodies(db, name) for name in ("q", "t::s")]
    assert got == ([[], []] if left_out or restarted else [["x"], ["x"]])


@pytest.mark.slow
def test_in_another_cluster_nothing_is_read_until_topics_are_rebased(
    server: Server, filled: str, server_folder: Path, tmp_path: Path
) -> None:
    if server.embedded is None:
        pytest.skip("pg_dump of the server's version is needed")
    # Not the fixture private_server, which is a copy and so for PostgreSQL the same cluster.
    another = EmbeddedServer(server_folder, server.embedded.version)
    target = another.start().dsn
    with psycopg.connect(filled) as db:
        roles = column(db, "select rolname from pg_roles where rolname like 'howdah%'")
    with psycopg.connect(target, autocommit=True) as db:
        for role in roles:
            db.execute(sql.SQL("create role {0}; grant {0} to current_user").format(identifier(role)))
    copy(filled, target, another, tmp_path)
    with psycopg.connect(target, autocommit=True) as db:
        for name in UNREAD:
            refused(db, "HD025", f"select howdah.receive('{name}')")
        refused(db, "HD025", "select howdah.maintain_topics()")
        one(db, "select howdah.rebase_topics()")
        assert one(db, "select act from howdah.list_changes('cluster', 'topics')") == "altered"
        refused(db, "HD005", "select howdah.rebase_topics()")
        check(db)


@pytest.fixture
def another_folder(server_folder: Path) -> Iterator[Path]:
    """One more path where a server may make its folder, with the same password, owned as the first one's."""
    folder = server_folder.with_name(server_folder.name + "-new")
    yield folder
    EmbeddedServer(folder).stop("immediate")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize("old_version", [15, 16])
def test_after_pg_upgrade_nothing_is_read_until_topics_are_rebased(
    server_folder: Path, another_folder: Path, old_version: int
) -> None:
    old, new = EmbeddedServer(server_folder, old_version), EmbeddedServer(another_folder, 18)
    try:
        programs = [old.bin("pg_ctl").parent, new.bin("pg_upgrade").parent]
    except EmbeddedServerError as error:
        pytest.skip(str(error))
    dsn = old.start().dsn
    migrate(dsn)
    fill(dsn)
    with psycopg.connect(dsn, autocommit=True) as db:  # the new server may be built without lz4
        for table, name in db.execute(
            "select attrelid::regclass::text, attname from pg_attribute"
            " where attcompression = 'l' and attrelid >= 16384"
        ).fetchall():
            db.execute(f"alter table {table} alter column {name} set compression pglz".encode())
    old.stop()
    upgrade(old, new, programs)
    with psycopg.connect(new.start().dsn, autocommit=True) as db:
        assert one(db, "select current_setting('server_version_num')::integer") >= 180000
        for name in UNREAD:
            refused(db, "HD025", f"select howdah.receive('{name}')")
        refused(db, "HD025", "select howdah.send('t', 'x')")
        one(db, "select howdah.rebase_topics()")
        refused(db, "HD005", "select howdah.rebase_topics()")
        check(db)


def upgrade(old: EmbeddedServer, new: EmbeddedServer, programs: list[Path]) -> None:
    """Make the new server's folder, and have pg_upgrade put the old one's data into it."""
    new.folder.mkdir(mode=0o700)
    shutil.copy2(old.folder / "password", new.folder / "password")
    if os.geteuid() == 0:
        owner = (old.folder / "data").stat()
        for path in (new.folder, new.folder / "password"):
            os.chown(path, owner.st_uid, owner.st_gid)
    with psycopg.connect(new.start().dsn, dbname="postgres", autocommit=True) as db:
        db.execute("drop database howdah")  # the old one comes in its place
    new.stop()
    account = Account.choose(old.folder / "data")
    folders = [server.folder / "data" for server in (old, new)]
    work = new.folder / "upgrade"
    work.mkdir(mode=0o700)
    os.chown(work, account.uid, account.gid)
    done = subprocess.run(
        [
            programs[1] / "pg_upgrade",
            "-b",
            programs[0],
            "-B",
            programs[1],
            "-d",
            folders[0],
            "-D",
            folders[1],
            "-U",
            "postgres",
            "-s",
            work,
        ],
        cwd=work,
        env=os.environ | {"PGPASSWORD": (old.folder / "password").read_text().strip()},
        user=account.uid if os.geteuid() == 0 else None,
        group=account.gid if os.geteuid() == 0 else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    logs = sorted(new.folder.glob("data/pg_upgrade_output.d/*/log/pg_upgrade_dump_*.log"))
    assert done.returncode == 0, done.stdout + "".join(log.read_text()[-2000:] for log in logs)
