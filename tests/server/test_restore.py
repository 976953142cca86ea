"""A database that used everything, dumped and restored into another cluster, whose transactions have lower numbers."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from command import howdah
from every_feature import use_every_feature
from psycopg import sql
from psycopg.conninfo import make_conninfo
from support import Connect, Db, Server, column, identifier, one, refused

from howdah.engine.embedded import EmbeddedServer

LISTS = (
    *("list_poison()", "list_schedules()", "list_policies()", "list_rules()", "list_services()", "list_aliases()"),
    *("list_queues()", "list_topics()", "list_leases()", "list_listeners()", "list_links()", "list_changes()"),
    *("browse_kept('keeping')", "incidents()", "engine_options()", "list_log()", "list_audits()"),
)
"""What must look the same on both sides."""


@dataclass
class Dumped:
    """The database that was dumped, another cluster without Howdah, and the file of the dump."""

    source: Db
    another: EmbeddedServer
    file: Path

    def restore(self, name: str, *options: str) -> str:
        """Restore it into a new database there, and return its DSN."""
        dsn = self.another.start().dsn
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute(sql.SQL("create database {}").format(identifier(name)))
        target = make_conninfo(dsn, dbname=name)
        command = [str(self.another.bin("pg_restore")), "--exit-on-error", *options, "-d", target, str(self.file)]
        subprocess.run(command, check=True)
        return target


@pytest.fixture
def dumped(server: Server, dsn: str, db: Db, connect: Connect, server_folder: Path, tmp_path: Path) -> Dumped:
    if server.embedded is None:
        pytest.skip("pg_dump of the server's version is needed")
    use_every_feature(db, connect)
    one(db, "select howdah.set_cluster('master', 'first')")
    one(db, "select howdah.register_instance('first', 'host', 1)")
    one(db, "select howdah.quiesce_engine('moving house')")
    db.execute("do $$ begin for n in 1..100000 loop perform pg_current_xact_id(); commit; end loop; end $$")
    db.execute("update howdah.engine set state_xid = pg_current_xact_id()::text::bigint")
    db.execute("update howdah.instance_positions set read = pg_current_snapshot()")
    # Not the fixture private_server, which is a copy and so for PostgreSQL the same cluster.
    another = EmbeddedServer(server_folder, server.embedded.version)
    file = tmp_path / "dump"
    subprocess.run([another.bin("pg_dump"), "-Fc", "--no-unlogged-table-data", "-f", file, dsn], check=True)
    roles = column(db, "select rolname from pg_roles where rolname like 'howdah%'")
    with psycopg.connect(another.start().dsn, autocommit=True) as there:
        for role in roles:
            there.execute(sql.SQL("create role {0}; grant {0} to current_user").format(identifier(role)))
    return Dumped(db, another, file)


def everything(db: Db) -> Counter[tuple[str, str]]:
    """Receive from all queues and subscriptions whatever is persistent."""
    found: Counter[tuple[str, str]] = Counter()
    names = column(db, "select queue from howdah.list_queues()")
    for name in [*names, *column(db, "select subscription from howdah.list_subscriptions()")]:
        try:
            while rows := db.execute("select body, delivery_mode from howdah.receive(%s, 1000)", (name,)).fetchall():
                found.update((name, body) for body, kind in rows if kind == "persistent")
        except psycopg.Error as error:
            if error.sqlstate not in ("HD019", "HD032"):  # hardened, or of a consumer only
                raise
    return found


@pytest.mark.slow
def test_a_restored_database_looks_works_and_goes_on_as_the_one_that_was_dumped(dumped: Dumped) -> None:
    source = dumped.source
    dsn = dumped.restore("restored")
    with psycopg.connect(dsn, autocommit=True) as db:
        assert one(db, "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint < state_xid from howdah.engine")
        for each in LISTS:
            query = f"select to_jsonb(l)::text from howdah.{each} l order by 1".encode()
            assert column(db, query.decode()) == column(source, query.decode()), each

        refused(db, "HD040", "select howdah.send('plain', 'x'::text)")
        with db.transaction():
            db.execute("create table work (n int)")
            refused(db, "HD040", "select howdah.send('plain', 'x'::text)")
        one(db, "select howdah.resume_engine()"), one(source, "select howdah.resume_engine()")

        db.execute("update howdah.instances set heartbeat_at = heartbeat_at - interval '1 day'")
        first = one(db, "select howdah.register_instance('first', 'host', 1)")
        for _ in range(2):
            seen = one(db, "select howdah.instance_heartbeat(%s)", (first,))
        assert (seen["state"], seen["missed"] > 0) == ("RUNNING", True), "it cannot know what it has read"
        one(db, "select howdah.create_queue('made.later')")
        assert column(db, "select name from howdah.read_changes(%s)", (first,)) == ["made.later"]

        acknowledged = "select to_jsonb(a)::text from howdah.activemq_acks a order by 1"
        for cursors in ("select howdah.receive('news:client:durable')", acknowledged):
            refused(db, "HD025", cursors)
        one(db, "select howdah.rebase_topics()")
        # Whoever leased from a subscription is not here: rebase_topics ends those leases.
        source.execute("delete from howdah.acked where lease_id is not null")
        assert column(db, acknowledged) == column(source, acknowledged)
        latest = "select howdah.send('latest', 'z', headers => '{\"k\": 2}')"
        for again in ("select howdah.replay_kept('keeping')", latest):
            assert one(db, again) == one(source, again) > 0
        assert column(db, "select body from howdah.browse('latest')") == ["z"]
        assert everything(db) == everything(source)
        for queue in column(
            db, "select queue from howdah.list_queues() where not is_system and queue not in ('twice', 'contracted')"
        ):
            one(db, "select howdah.send(%s, 'after'::text)", (queue,))
        assert column(db, "select body from howdah.receive('plain')") == ["after"]
        one(db, "select howdah.maintain_totals()")
    assert howdah(dsn, "migrate", "--check").code == 0
    assert "owner" not in [row["setting"] for row in howdah(dsn, "check", "--json").json]


@pytest.mark.slow
def test_a_dump_restored_without_its_owners_is_named_by_check(dumped: Dumped) -> None:
    dsn = dumped.restore("ownerless", "--no-owner", "--no-privileges")
    assert howdah(dsn, "migrate").code == 0
    found = {row["setting"]: row for row in howdah(dsn, "check", "--json").json}
    assert json.dumps(found["owner"]).count("as a superuser")
