"""Transactions over restarts and crashes.

Uncommitted ones are undone, prepared ones wait, producers' pages are not seen.
"""

from __future__ import annotations

import psycopg
import pytest
from command import howdah
from psycopg import sql
from support import Clock, Db, column, one, receive

from howdah.engine import connect as connect_howdah
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.errors import BadArgument
from howdah.workers.maintenance import Maintenance


def open_db(server: EmbeddedServer) -> Db:
    return psycopg.connect(server.start().dsn, autocommit=True)


def bodies(db: Db, queue: str = "q", verb: str = "browse") -> list[str | None]:
    return [message.body for message in receive(db, queue, 100, verb)]


def prepare(server: EmbeddedServer, gid: str, body: str) -> None:
    """A transaction that takes one message from q and sends one to it, prepared."""
    with open_db(server) as db:
        db.execute("begin")
        receive(db)
        one(db, "select howdah.send('q', %s, notify => false)", (body,))
        db.execute(sql.SQL("prepare transaction {}").format(gid))


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-31")
@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_prepared_transaction_is_committed_or_rolled_back_after_a_restart(
    private_server: EmbeddedServer, mode: str
) -> None:
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        for body in ("first", "second"):
            one(db, "select howdah.send('q', %s)", (body,))
    prepare(private_server, "howdah:1", "sent by 1")
    prepare(private_server, "a manager's 50%", "sent by 2")
    private_server.stop("immediate" if mode == "immediate" else "fast")
    dsn = private_server.start().dsn
    with connect_howdah(dsn) as connection, psycopg.connect(dsn, autocommit=True) as db:
        listed = connection.transactions.list()
        assert [(row["gid"], row["ours"], row["before_start"], row["rolls_back"]) for row in listed] == [
            ("howdah:1", True, True, False), ("a manager's 50%", False, True, False),
        ]  # fmt: skip
        assert bodies(db) == ["first", "second"]  # in hand of nobody that can be seen
        assert bodies(db, verb="receive") == []
        connection.transactions.commit("howdah:1")
        assert bodies(db, verb="browse") == ["second", "sent by 1"]
        connection.transactions.rollback("a manager's 50%")
        assert connection.transactions.list() == []
        assert bodies(db, verb="receive") == ["second", "sent by 1"]
        with pytest.raises(BadArgument):
            connection.transactions.commit("howdah:1")


def test_prepared_transactions_and_slots_are_listed_with_what_they_hold(private_server: EmbeddedServer) -> None:
    listed = "select kind, name, state, locks > 0, wal_bytes >= 0, hidden, advice from howdah.list_open_transactions()"
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.send('q', 'x')")
        one(db, "select lsn from pg_create_physical_replication_slot('away', true)")
    prepare(private_server, "a manager's 50%", "sent")
    with open_db(private_server) as db:
        rows = {row[0]: row[1:] for row in db.execute(listed).fetchall()}
        assert rows["prepared"][:5] == ("a manager's 50%", "prepared", True, None, False)
        assert "rollback prepared 'a manager''s 50%'" in rows["prepared"][5]
        assert column(db, "select gid from howdah.list_transactions()") == ["a manager's 50%"]
        assert rows["slot"][:5] == ("away", "inactive", False, True, False)
        assert "pg_drop_replication_slot('away')" in rows["slot"][5]
        assert one(db, "select horizon from howdah.list_open_transactions() where kind = 'prepared'") >= 1
        one(db, "select pg_drop_replication_slot('away')")
        db.execute("rollback prepared 'a manager''s 50%'")
        assert db.execute(listed).fetchall() == []


@pytest.mark.behaviour("IMQ-32")
def test_a_transaction_open_at_a_crash_is_undone_its_sends_and_its_receives(private_server: EmbeddedServer) -> None:
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.send('q', 'there')")
    held = open_db(private_server)
    held.execute("begin")
    assert [message.body for message in receive(held)] == ["there"]
    one(held, "select howdah.send('q', 'never')")
    one(held, "select howdah.send('q', 'nor this', delay => '1 ms')")
    private_server.stop("immediate")
    held.close()
    with open_db(private_server) as db:
        assert bodies(db, verb="receive") == ["there"]
        assert one(db, "select count(*) from howdah.parked") == 0


@pytest.mark.behaviour("IMQ-33")
def test_autorollback_is_off_and_turned_on_rolls_back_ours_of_before_the_start_and_no_others(
    private_server: EmbeddedServer, caplog: pytest.LogCaptureFixture
) -> None:
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.send('q', 'there')")
    prepare(private_server, "howdah:old", "sent")
    prepare(private_server, "another's", "sent by another's")
    private_server.stop()
    dsn = private_server.start().dsn
    prepare(private_server, "howdah:new", "sent by new")
    with psycopg.connect(dsn, autocommit=True) as db:
        gids = "select gid from howdah.list_transactions() order by gid"
        maintenance = Maintenance(dsn, "w")
        assert maintenance.run_once("transactions") == 0
        aged = "select count(*) from howdah.check_server() where setting like 'prepared transaction %%'"
        assert one(db, aged) == 0
        clock = Clock(db)
        clock.install()
        clock.advance(3601)
        assert one(db, aged) == 3
        assert column(db, gids) == ["another's", "howdah:new", "howdah:old"]
        one(db, """select howdah.alter_engine('{"imq.transaction.autorollback": true}')""")
        assert maintenance.run_once("transactions") == 1
        assert [record.getMessage() for record in caplog.records] == ["prepared transaction rolled back"]
        maintenance.stop()
        assert column(db, gids) == ["another's", "howdah:new"]
        assert bodies(db) == ["there"]
        for gid in ("another's", "howdah:new"):
            db.execute(sql.SQL("rollback prepared {}").format(gid))


PLACES = {"q": ["msgs"], "t": ["topic_msgs_0", "topic_msgs_1", "topic_msgs_2"]}


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-103")
@pytest.mark.behaviour("AMQ-105")
@pytest.mark.parametrize("destination", ["q", "t"])
def test_what_a_producers_transaction_has_sent_lies_in_the_servers_pages_and_is_seen_by_nobody(
    private_server: EmbeddedServer, destination: str
) -> None:
    with open_db(private_server) as db, open_db(private_server) as other:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.create_topic('t')")
        one(db, "select howdah.subscribe('t', 's')")
        seen = "q" if destination == "q" else "t::s"
        size = " + ".join(f"pg_relation_size('howdah.{table}')" for table in PLACES[destination])
        before = one(other, f"select {size}")
        with db.transaction():
            one(db, "select cardinality(howdah.send_batch(%s, array_fill('x'::text, array[1000])))", (destination,))
            assert one(other, f"select {size}") > before + 50000
            assert receive(other, seen, 10, "browse") == receive(other, seen, 10) == []
        assert len(receive(other, seen, 10000)) == 1000


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-104")
@pytest.mark.behaviour("SIB-06")
@pytest.mark.behaviour("AMQ-105")
@pytest.mark.parametrize("destination", ["q", "t"])
def test_messages_of_both_delivery_modes_come_with_the_commit_and_not_with_a_rollback(
    private_server: EmbeddedServer, destination: str
) -> None:
    with open_db(private_server) as db, open_db(private_server) as other:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.create_topic('t')")
        one(db, "select howdah.subscribe('t', 's')")
        seen = "q" if destination == "q" else "t::s"
        for commits in (False, True):
            with db.transaction(force_rollback=not commits):
                for number in range(10):
                    mode = "non-persistent" if number % 2 else "persistent"
                    one(db, "select howdah.send(%s, 'x', delivery_mode => %s)", (destination, mode))
                    assert receive(other, seen, 100) == []
            modes = [message.delivery_mode for message in receive(other, seen, 100)]
            assert sorted(modes) == (["non-persistent"] * 5 + ["persistent"] * 5 if commits else [])


@pytest.mark.behaviour("IMQ-54")
def test_a_stop_with_vacuum_gives_the_space_of_consumed_messages_back(private_server: EmbeddedServer) -> None:
    sizes: list[int] = []
    for vacuum in (False, True):
        with open_db(private_server) as db:
            if not sizes:
                one(db, "select howdah.create_queue('q')")
                one(db, """select howdah.set_storage('{"autovacuum_enabled": false}') is not null""")
                one(db, "select cardinality(howdah.send_batch('q', array_fill(repeat('x', 1000), array[2000])))")
                one(db, "select count(*) from howdah.receive('q', 1999)")
        options = ["--vacuum"] if vacuum else []
        assert howdah("", "server", "stop", "--data", private_server.folder, *options).out == "stopped\n"
        with open_db(private_server) as db:
            sizes.append(one(db, "select pg_relation_size('howdah.msgs')"))
            assert len(receive(db, verb="browse")) == 1
    assert sizes[0] > 2_000_000
    assert sizes[1] < 20_000
