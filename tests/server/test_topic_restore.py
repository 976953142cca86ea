"""Dump and restore of topics: in the same cluster cursors go on; in another one nothing is read before they are rebased."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from support import Db, Server, column, identifier, one, refused

from howdah.engine.embedded import EmbeddedServer

#: What each subscription has not read when the database is dumped, by the bodies of the messages.
UNREAD = {
    "t::all": ["late 1", "late 2", "5", "6", "7"],
    "t::some": ["late 1", "late 2", "3", "4", "5", "6", "7"],
    "t::shared": ["late 1", "late 2", "3", "5", "6", "7"],
    "t::odd": ["7"],
    ">::wild": ["7", "u"],
    "t::new": [],
}


def copy(source: str, target: str, server: EmbeddedServer, folder: Path) -> None:
    """pg_dump and pg_restore the schema of Howdah."""
    file = folder / "dump"
    subprocess.run([server.bin("pg_dump"), "-Fc", "-n", "howdah", "-f", file, source], check=True)
    subprocess.run([server.bin("pg_restore"), "--exit-on-error", "-d", target, file], check=True)


@pytest.fixture
def filled(dsn: str) -> Iterator[str]:
    """A database with subscriptions that stand at different places, in more than one table of the ring."""
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
            one(db, "select howdah.send('t', %s::text, headers => %s::jsonb)", (str(n), '{"odd": %s}' % str(n % 2 == 1).lower()))
            if n == 2:
                db.execute("update howdah.topic_ring set opened_at = '-infinity' where state = 'open'")
                one(db, "select howdah.maintain_topics()")
        assert bodies(db, "t::all") == ["1", "2", "3", "4"]
        assert bodies(db, "t::some", 2) == ["1", "2"]
        assert bodies(db, "t::shared", 2) == ["1", "2"]
        with db.transaction():
            held = db.execute("select message_id, priority, position from howdah.receive_locked('t::shared', 2)").fetchall()
            db.execute("select howdah.consume_locked('t::shared', array[%s]::bigint[], array[%s], array[%s]::bigint[])", held[1])
        late.commit()
        for n in (5, 6):
            one(db, "select howdah.send('t', %s::text)", (str(n),))
        assert bodies(db, "t::odd") == ["1", "3"]
        assert bodies(db, ">::wild") == ["late 1", "late 2", "1", "2", "3", "4", "5", "6"]
        one(db, "select howdah.send('t', '7', headers => '{\"odd\": true}')")
        one(db, "select howdah.send('u', 'u')")
        one(db, "select howdah.subscribe('t', 'new')")
    yield dsn


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
            db.execute(sql.SQL("create role {}").format(identifier(role)))
    copy(filled, target, another, tmp_path)
    with psycopg.connect(target, autocommit=True) as db:
        for name in UNREAD:
            refused(db, "HD025", f"select howdah.receive('{name}')")
        refused(db, "HD025", "select howdah.maintain_topics()")
        one(db, "select howdah.rebase_topics()")
        refused(db, "HD005", "select howdah.rebase_topics()")
        check(db)
