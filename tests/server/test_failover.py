"""A synchronous standby is promoted after the primary's crash: what was answered is there, and clients find it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from support import column, one, refused, wait_until

from howdah.engine import connect
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.embedded.programs import Account
from howdah.engine.errors import CannotConnect, ConnectionLost


@pytest.fixture
def standby(private_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """A running standby of the private server, which waits for it at each commit."""
    folder = private_server.folder.with_name(f"{private_server.folder.name}-standby")
    folder.mkdir(mode=0o711)
    account = Account.choose(private_server.folder / "data")
    shutil.chown(folder, account.uid, account.gid)
    dsn = make_conninfo(private_server.start().dsn, dbname="")
    made = account.run(
        *(private_server.bin("pg_basebackup"), "-D", folder / "data", "-d", dsn),
        *("--write-recovery-conf", "--checkpoint=fast"),
        cwd=folder,
    )
    assert made.returncode == 0, made.stdout
    shutil.copy(private_server.folder / "password", folder / "password")
    replica = EmbeddedServer(folder)
    try:
        replica.start()
        with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
            db.execute("alter system set synchronous_standby_names = '*'")
            one(db, "select pg_reload_conf()")
            wait_until(lambda: one(db, "select max(sync_state) from pg_stat_replication") == "sync")
        yield replica
    finally:
        replica.stop("immediate")
        shutil.rmtree(folder)


def both(first: EmbeddedServer, second: EmbeddedServer) -> str:
    """The DSN of whichever of two servers can be written to."""
    one, two = (conninfo_to_dict(server.start().dsn) for server in (first, second))
    hosts, ports = f"{one['host']},{two['host']}", f"{one['port']},{two['port']}"
    return make_conninfo(first.start().dsn, host=hosts, port=ports, target_session_attrs="read-write")


def checkpoint(primary: EmbeddedServer, standby: EmbeddedServer) -> None:
    """Checkpoints in both, so that the standby has the files of UNLOGGED sequences on its disk."""
    with psycopg.connect(primary.start().dsn, autocommit=True) as db:
        db.execute("checkpoint")
        written = one(db, "select pg_current_wal_lsn()")
    with psycopg.connect(standby.start().dsn, autocommit=True) as db:
        wait_until(lambda: one(db, "select pg_last_wal_replay_lsn() >= %s", (written,)))
        db.execute("checkpoint")


def promote(standby: EmbeddedServer) -> None:
    with psycopg.connect(standby.start().dsn, autocommit=True) as db:
        assert one(db, "select pg_promote()")
        db.execute("alter system reset synchronous_standby_names")
        one(db, "select pg_reload_conf()")
        db.execute("checkpoint")


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-57")
@pytest.mark.parametrize("cure", ["checkpoints before", "a crash afterwards"])
def test_a_promoted_standby_has_what_was_answered_and_lost_what_was_not_persistent(
    private_server: EmbeddedServer, standby: EmbeddedServer, cure: str
) -> None:
    """PostgreSQL (16 and 18 tried) breaks UNLOGGED sequences that are younger than the standby's last checkpoint."""
    either = both(private_server, standby)
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
        one(db, "select howdah.create_topic('t')")
        one(db, "select howdah.subscribe('t', 's')")
        one(db, "select howdah.send_batch('q', array['consumed', 'leased', 'ready'])")
        assert column(db, "select body from howdah.receive('q')") == ["consumed"]
        lease = one(db, "select lease from howdah.lease('q', 1, '1 hour')")
        one(db, "select howdah.send('q', 'delayed'::text, delay => '1 hour')")
        one(db, "select howdah.send('q', 'not persistent'::text, delivery_mode => 'non-persistent')")
        one(db, "select howdah.send_batch('t', array['a', 'b', 'c'])")
        assert column(db, "select body from howdah.receive('t::s')") == ["a"]
        epoch = one(db, "select howdah.acquire_lock('mine', 'before', 1)")

    with connect(either) as connection:
        assert connection.admin.list_queues()
        if cure == "checkpoints before":
            checkpoint(private_server, standby)
        private_server.stop("immediate")
        promote(standby)
        if cure == "a crash afterwards":
            standby.stop("immediate")
            standby.start()

        def sent() -> bool:
            with suppress(CannotConnect, ConnectionLost):
                return connection.send("q", "afterwards", deduplication_key="once") > 0
            return False

        wait_until(sent)  # the pool finds the other server by itself

    with psycopg.connect(standby.start().dsn, autocommit=True) as db:
        assert column(db, "select body from howdah.receive('q', 10)") == ["ready", "afterwards"]
        assert one(db, "select count(*) from howdah.list_delayed('q')") == 1
        assert one(db, "select howdah.ack('q', %s)", (lease,)) == 1
        assert column(db, "select body from howdah.receive('t::s', 10)") == ["b", "c"]
        assert column(db, "select body from howdah.receive('q', 10)") == []
        wait_until(lambda: one(db, "select howdah.acquire_lock('mine', 'after')") is not None)
        assert one(db, "select howdah.acquire_lock('mine', 'after')") == epoch + 1
        refused(db, "HD014", "select howdah.release_lock('mine', %s, 'before')", (epoch,))


def totals(db: psycopg.Connection[tuple[object, ...]]) -> dict[str, float]:
    rows = db.execute("select name || labels, value from howdah.metrics() where name ~ '_(total|bucket|count|sum)$'")
    return {str(key): float(str(value)) for key, value in rows}


@pytest.mark.slow
def test_totals_of_metrics_do_not_go_back_when_a_synchronous_standby_takes_over(
    private_server: EmbeddedServer, standby: EmbeddedServer
) -> None:
    created = "select distinct created from howdah.metrics() where created is not null"
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
        assert column(db, "select body from howdah.receive('q')") == ["a"]
        one(db, "select howdah.maintain_totals()")
        one(db, "select howdah.maintain_backlog()")
        before, began = totals(db), one(db, created)
        assert before["howdah_messages_enqueued_total{}"] == 3
    checkpoint(private_server, standby)
    private_server.stop("immediate")
    promote(standby)
    with psycopg.connect(standby.start().dsn, autocommit=True) as db:
        assert totals(db) == before
        assert column(db, "select body from howdah.receive('q')") == ["b"]
        one(db, "select howdah.maintain_totals()")
        one(db, "select howdah.maintain_backlog()")
        after = totals(db)
        assert {key: value for key, value in before.items() if after.get(key, -1) < value} == {}
        assert after['howdah_messages_dequeued_total{"outcome": "consumed"}'] == 2
        assert one(db, created) == began
