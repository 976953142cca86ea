"""howdah import activemq is made again and again, and a message is received in one place only."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from activemq_broker import restore, running
from activemq_support import KINDS, LIVING, browsed, change, received, refused, run
from command import howdah, start
from support import Db, column, one, wait_until

from howdah.engine.admin.imports import Imports
from howdah.engine.errors import ConnectionLost


@pytest.fixture
def store(new_database: Callable[[], str]) -> str:
    """A recorded store in a database of its own."""
    dsn = new_database()
    restore(dsn)
    return dsn


@pytest.mark.slow
def test_a_pass_that_was_cut_off_is_made_again(dsn: str, db: Db, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sound, calls = Imports.messages, []

    def cut_off(self: Imports, *arguments: Any) -> tuple[int, int]:
        calls.append(arguments)
        if len(calls) == 4:
            raise ConnectionLost("the server is gone")
        return sound(self, *arguments)

    monkeypatch.setattr(Imports, "messages", cut_off)
    failed = refused(dsn, store, "--final", "--batch", 5).err
    assert "the server is gone" in failed
    before = one(db, "select count(*) from howdah.activemq_msgs")
    assert 0 < before < KINDS
    assert f"howdah: stopped: {before} messages came over and 0 were taken back before;" in failed
    monkeypatch.undo()
    lines = run(dsn, store, "--final", "--batch", 5)
    assert sum(row["repeated"] for row in lines.values()) == before
    assert one(db, "select count(*) from howdah.activemq_msgs where container = 'queue://orders'") == KINDS
    again = run(dsn, store, "--final")
    assert sum(row["stored"] + row["withdrawn"] for row in again.values()) == 0


@pytest.mark.slow
def test_nobody_receives_from_a_copy_until_the_final_pass(dsn: str, db: Db, store: str) -> None:
    run(dsn, store)
    with pytest.raises(psycopg.Error, match="paused"):
        received(db, "A")
    with pytest.raises(psycopg.Error, match="paused"):
        received(db, "prices:desk7:billing")
    said = howdah(dsn, "import", "activemq", "--from", store, "--final")
    assert "Received from again: A, B, orders, " in said.out
    assert received(db, "A") == ["text 1", "text 2"]
    # What was consumed here stays consumed, however often the pass is made.
    run(dsn, store, "--final")
    assert received(db, "A") == []


@pytest.mark.slow
def test_a_later_pass_takes_back_what_was_consumed_there(dsn: str, db: Db, store: str) -> None:
    run(dsn, store)
    change(store, "delete from activemq_msgs where container = 'queue://A' and msgid_seq = 1")
    change(store, "delete from activemq_msgs where container = 'queue://B'")
    change(store, "update activemq_acks set last_acked_id = 34 where sub_name = 'billing'")
    change(store, "delete from activemq_acks where sub_name = 'high'")
    lines = run(dsn, store)
    assert {there: row["withdrawn"] for there, row in lines.items() if row["withdrawn"]} == {
        "queue://A": 1,
        "queue://B": 2,
        "topic://prices desk7:billing": 2,
    }
    run(dsn, store, "--final")
    assert (received(db, "A"), received(db, "B")) == (["text 2"], [])
    assert received(db, "prices:desk7:billing") == ["text 5", "text 6"]
    subscriptions = column(db, "select subscription from howdah.list_subscriptions() order by 1")
    assert subscriptions == ["price.>:w:wild", "prices:desk7:billing"]
    assert "consumed at the source" in column(db, "select reason from howdah.list_acts()")


@pytest.mark.slow
def test_a_queue_that_is_in_use_here_is_left_alone(dsn: str, db: Db, store: str) -> None:
    db.execute("select howdah.create_queue('A'), howdah.create_topic('prices')")
    db.execute("select howdah.subscribe('prices', 'ours')")
    lines = run(dsn, store, code=1)
    assert (lines["queue://A"]["stored"], lines["queue://B"]["stored"]) == (0, 2)
    assert "is received from here" in lines["queue://A"]["why"]
    assert "has other subscriptions here" in lines["topic://prices"]["why"]
    assert received(db, "prices::ours") == []
    final = run(dsn, store, "--final")
    assert (final["queue://A"]["stored"], final["topic://prices"]["stored"]) == (2, 6)
    assert received(db, "prices:desk7:billing") == ["text 3", "text 4", "text 5", "text 6"]


@pytest.mark.slow
def test_a_queue_that_was_paused_before_is_emptied_of_what_was_consumed_there(dsn: str, db: Db, store: str) -> None:
    """It is empty there, and has no row; nor does the import hold it."""
    one(db, "select howdah.create_queue('A')")
    db.execute("select howdah.pause('A', sending => false, receiving => true)")
    assert run(dsn, store)["queue://A"]["stored"] == 2
    change(store, "delete from activemq_msgs where container = 'queue://A'")
    assert run(dsn, store, "--final")["queue://A"]["withdrawn"] == 2
    assert one(db, "select count(*) from howdah.browse('A')") == 0
    assert one(db, "select receiving_paused from howdah.list_queues() where queue = 'A'")


@pytest.mark.slow
def test_nobody_receives_from_a_new_subscription_before_it_has_read_what_it_had_read(
    dsn: str, db: Db, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a final pass without a copy before, which is cut off between the topic and what was read."""

    def cut_off(self: Imports, *arguments: Any) -> int:
        raise ConnectionLost("the server is gone")

    monkeypatch.setattr(Imports, "read", cut_off)
    refused(dsn, store, "--final")
    with pytest.raises(psycopg.Error, match="paused"):
        received(db, "prices:desk7:billing")
    monkeypatch.undo()
    run(dsn, store, "--final")
    assert received(db, "prices:desk7:billing") == ["text 3", "text 4", "text 5", "text 6"]


@pytest.mark.slow
def test_what_a_prepared_transaction_may_have_received_is_taken_back_until_that_is_decided(
    dsn: str, db: Db, store: str
) -> None:
    run(dsn, store)
    change(store, "update activemq_msgs set xid = 'LQ' where container = 'queue://A' and msgid_seq = 1")
    change(store, "update activemq_acks set xid = 'AA' where sub_name = 'high'")
    lines = run(dsn, store, code=1)
    assert (lines["queue://A"]["withdrawn"], lines["queue://A"]["stays"]) == (1, 1)
    assert lines["topic://prices desk7:high"]["why"].startswith("1 in a prepared transaction")
    change(store, "update activemq_msgs set xid = null")
    change(store, "update activemq_acks set xid = null")
    run(dsn, store, "--final")
    assert sorted(received(db, "A")) == ["text 1", "text 2"]
    assert received(db, "prices:desk7:high") == ["text 4", "text 5", "text 6"]


@pytest.mark.slow
def test_a_pass_that_is_killed_is_made_again(dsn: str, db: Db, store: str) -> None:
    """What it had committed is not stored twice, and the broker may start at once."""
    locked = "select id from activemq_lock for update nowait"
    with psycopg.connect(dsn) as blocking, psycopg.connect(store, autocommit=True) as broker:
        process = start(dsn, "import", "activemq", "--from", store, "--final", "--batch", 1)
        wait_until(lambda: (one(db, "select max(stored) from howdah.list_imports()") or 0) > 2)
        blocking.execute("select from howdah.imports for update")
        waits = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'import_messages'"
        wait_until(lambda: one(db, waits))
        with pytest.raises(psycopg.errors.LockNotAvailable):
            broker.execute(locked)
        process.kill()
        process.communicate()
        blocking.rollback()
        # The server goes on with the statement in hand.
        others = "select count(*) from pg_stat_activity where query ~ 'import_messages' and pid <> pg_backend_pid()"
        wait_until(lambda: not one(db, others))
        before = one(db, "select stored from howdah.list_imports()")
        assert 2 < before < 2 * KINDS + 12
        with broker.transaction():
            wait_until(lambda: freed(broker, locked))
    lines = run(dsn, store, "--final")
    assert sum(row["repeated"] for row in lines.values()) == before
    assert sum(row["stored"] for row in lines.values()) == 2 * KINDS + 12 - before
    assert one(db, "select count(*) from howdah.activemq_msgs") == 2 * KINDS + 12


def freed(broker: Db, locked: str) -> bool:
    """Whether a broker could start now."""
    with suppress(psycopg.errors.LockNotAvailable), broker.transaction():
        broker.execute(locked.encode())
        return True
    return False


def test_an_import_is_listed_and_forgotten(dsn: str, db: Db, store: str) -> None:
    run(dsn, store)
    (row,) = howdah(dsn, "import", "list", "--json").json
    assert (row["finished_at"], "A" in row["held"], row["stored"]) == (None, True, 2 * KINDS + 4 + 8)
    assert "paused queues" in howdah(dsn, "import", "forget", row["source"]).err
    run(dsn, store, "--final")
    said = howdah(dsn, "import", "forget", row["source"])
    assert said.out == f"{2 * KINDS + 12} messages of {row['source']} forgotten\n"
    assert howdah(dsn, "import", "list").out == "nothing was imported\n"


@pytest.mark.slow
def test_a_running_broker_is_copied_again_and_again_and_at_last_once_it_stopped(
    dsn: str, db: Db, new_database: Callable[[], str], tmp_path: Path
) -> None:
    store, prefix = new_database(), ("--prefix", "Acme_")
    with running(store, tmp_path, "Acme_") as broker:
        broker("subscribe VirtualTopic.o desk8 all", "texts queue://Consumer.A.VirtualTopic.o 1 1", "poison poisonous")
        broker("texts topic://VirtualTopic.o 2 1")
        broker("kinds orders", "texts queue://jobs 1 5", "texts queue://A,queue://B 1 1", "texts queue://ending 1 1")
        broker("subscribe prices desk7 billing", "subscribe price.> w wild", "subscribe prices desk7 leaver")
        broker("texts topic://prices 1 5", "read prices desk7 billing 1")
        first = run(dsn, store, *prefix)
        assert (first["queue://jobs"]["stored"], first["topic://prices"]["stored"]) == (5, 5)
        assert "a broker has the store" in refused(dsn, store, *prefix, "--final").err

        broker("take jobs 2", "take ending 1", "texts queue://jobs 6 2", "texts queue://late 1 1")
        broker("read prices desk7 billing 2", "texts topic://prices 6 1", "unsubscribe prices desk7 leaver")
        second = run(dsn, store, *prefix)
        jobs = second["queue://jobs"]
        assert (jobs["stored"], jobs["repeated"], jobs["withdrawn"]) == (2, 3, 2)
        assert (second["queue://ending"]["withdrawn"], second["queue://late"]["stored"]) == (1, 1)
        assert second["topic://prices desk7:billing"]["withdrawn"] == 2
        third = run(dsn, store, *prefix)
        assert sum(row["stored"] + row["withdrawn"] for row in third.values()) == 0

        broker("take jobs 1", "texts queue://jobs 8 1")
        broker.stop()
    run(dsn, store, *prefix, "--final")
    with psycopg.connect(store) as there:
        pending = "select container from {} where container !~ 'topic' {} order by container, id"
        theirs = there.execute(pending.format("acme_activemq_msgs", f"and {LIVING}").encode()).fetchall()
    assert db.execute(pending.format("howdah.activemq_msgs", "").encode()).fetchall() == theirs
    assert received(db, "jobs") == ["text 4", "text 5", "text 6", "text 7", "text 8"]
    assert received(db, "prices:desk7:billing") == ["text 4", "text 5", "text 6"]
    assert received(db, "ending") == []
    assert "prices:desk7:leaver" not in column(db, "select subscription from howdah.list_subscriptions()")
    # The broker has sent a copy to the virtual topic's queue; what comes into the topic here must not do so again.
    assert received(db, "Consumer.A.VirtualTopic.o") == ["text 1", "text 2"]
    assert received(db, "VirtualTopic.o:desk8:all") == ["text 2"]
    dead = {row["body"]: row["headers"]["AMQ_ORIGINAL_DESTINATION"] for row in browsed(db, "ActiveMQ.DLQ")}
    assert dead["poison"] == "queue://poisonous"
