"""howdah import activemq, from a store that a real ActiveMQ wrote: recorded, running and stopped."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from activemq_broker import restore, running
from command import Result, howdah, start
from psycopg.conninfo import make_conninfo
from support import Connect, Db, column, one, wait_until

from howdah.cli.importing.source import Store
from howdah.engine.admin.imports import Imports
from howdah.engine.errors import ConnectionLost, HowdahError

KINDS = 12
"""Messages that Store.java's kinds leaves: one more has expired."""


LIVING = "(expiration = 0 or expiration > extract(epoch from now()) * 1000)"


@pytest.fixture
def store(new_database: Callable[[], str]) -> str:
    """A recorded store in a database of its own."""
    dsn = new_database()
    restore(dsn)
    return dsn


def change(store: str, statement: str, *arguments: object) -> None:
    """Change the store as a broker would, or as an accident."""
    with psycopg.connect(store) as db:
        db.execute(statement.encode(), arguments)


def run(dsn: str, store: str, *words: object, code: int = 0) -> dict[str, Any]:
    """Make a pass; the lines of its table by what they are in ActiveMQ."""
    said = howdah(dsn, "import", "activemq", "--from", store, "--json", *words)
    assert said.code == code, said
    return {row["there"]: row for row in said.json}


def refused(dsn: str, store: str, *words: object) -> Result:
    """A pass that must not do anything."""
    said = howdah(dsn, "import", "activemq", "--from", store, *words)
    assert said.code == 1, said
    return said


def browsed(db: Db, queue: str) -> list[dict[str, Any]]:
    """The messages of a queue in their order, those of the highest priority first."""
    rows = db.execute(
        "select priority, content_type, body, bytes, headers, correlation_id, reply_to, message_type from"
        " howdah.browse(%s, 100) order by priority desc, message_id",
        (queue,),
    )
    names = [column.name for column in rows.description or ()]
    return [dict(zip(names, row, strict=True)) for row in rows]


def received(db: Db, queue: str) -> list[str]:
    """The bodies that a consumer gets, in its order."""
    return column(db, "select body from howdah.receive(%s, 100)", (queue,))


def test_every_kind_of_message_comes_over_with_all_it_carries(dsn: str, db: Db, store: str) -> None:
    lines = run(dsn, store, "--final")
    assert (lines["queue://orders"]["stored"], lines["queue://orders"]["why"]) == (KINDS, "1 expired")
    found = browsed(db, "orders")
    assert [row["priority"] for row in found] == [9, *[4] * (KINDS - 2), 0]

    first = found[0]
    assert first["body"] == "Grüße 🐘 " + "x" * 200
    assert (first["correlation_id"], first["reply_to"], first["message_type"]) == ("corr-1", "answers", "order")
    headers = first["headers"]
    assert headers.pop("AMQ_MESSAGE_ID").startswith("ID:")
    assert headers.pop("AMQ_TIMESTAMP") > 1.7e12
    assert headers == {
        "region": "EU",
        "urgent": True,
        "aByte": -3,
        "aShort": 300,
        "anInt": 70000,
        "aLong": 1 << 60,
        "aFloat": 0.5,
        "aDouble": 2.25,
        "JMSXGroupID": "group 1",
        "JMSXGroupSeq": 7,
    }
    kinds = [(row["content_type"], row["body"]) for row in found[1:-1]]
    assert kinds[0] == ("application/octet-stream", None)
    assert found[1]["bytes"] == b"\0\1\2\xff"
    assert kinds[1][0] == "application/vnd.howdah.map+json"
    assert json.loads(kinds[1][1]) == {
        "item": ["string", "mocha"],
        "number": ["long", 3],
        "price": ["double", 65.25],
        "hot": ["boolean", True],
        "photo": ["bytes", base64.b64encode(b"\1\2").decode()],
        "size": ["string", "L"],
        "long": ["long", -1],
        "float": ["double", 1.5],
        "nothing": ["null", None],
    }
    assert (kinds[2][0], json.loads(kinds[2][1])) == ("application/json", {"list": ["a", 1], "map": {"b": 2.5}})
    assert kinds[3][0] == "application/vnd.howdah.stream+json"
    assert json.loads(kinds[3][1]) == [["string", "first"], ["long", 2], ["bytes", "Aw=="], ["null", None]]
    assert kinds[4][0] == "application/x-java-serialized-object"
    assert found[5]["bytes"][:2] == b"\xac\xed"  # as Java begins what it serializes
    assert found[6]["headers"]["only"] == "properties"
    assert [body for _, body in kinds[5:8]] == ["", "", ""]
    assert (kinds[8][0], found[9]["bytes"]) == ("text/plain; charset=utf-8", b"a\0b")
    assert found[10]["headers"]["AMQ_SCHEDULED_DELAY"] == 3600000
    assert kinds[9][1] == "no scheduler here"
    assert found[-1]["body"] == "low"


def test_compressed_messages_are_as_the_others(dsn: str, db: Db, store: str) -> None:
    run(dsn, store, "--final")
    plain, zipped = browsed(db, "orders"), browsed(db, "zipped")
    for row in (*plain, *zipped):
        del row["headers"]
    assert plain == zipped


def test_the_view_of_activemqs_columns_shows_the_same_pending_list(dsn: str, db: Db, store: str) -> None:
    run(dsn, store, "--final")
    pending = "select container, expiration from activemq_msgs order by container, id"
    with psycopg.connect(store) as there:
        wanted = there.execute(pending.replace("order", f"where {LIVING} order"))
        theirs = wanted.fetchall()
    ours = db.execute(pending.replace("activemq_msgs", "howdah.activemq_msgs")).fetchall()
    assert [container for container, _ in ours] == [container for container, _ in theirs]
    # The time of expiry is computed anew from what was left: some milliseconds may be added.
    assert all(0 <= here - there < 1000 for (_, here), (_, there) in zip(ours, theirs, strict=True))


def test_durable_subscriptions_come_over_with_what_each_has_not_read(dsn: str, db: Db, store: str) -> None:
    lines = run(dsn, store, "--final")
    assert lines["topic://prices desk7:billing"]["withdrawn"] == 2
    assert received(db, "prices:desk7:billing") == ["text 3", "text 4", "text 5", "text 6"]
    assert received(db, "prices:desk7:high") == ["text 4", "text 5", "text 6"]
    assert received(db, "price.>:w:wild") == ["text 9", "text 10"]
    # As what is read and what was skipped: the audit's sum holds.
    events = "select event, count(*) from howdah.audit_journal where queue = 'prices:desk7:billing' group by 1"
    assert dict(db.execute(events.encode()).fetchall()) == {"consumed": 4, "discarded": 2}


def test_a_dry_run_changes_nothing(dsn: str, db: Db, store: str) -> None:
    change(store, "update activemq_msgs set msg = 'rubbish' where container = 'queue://A' and msgid_seq = 1")
    lines = run(dsn, store, "--dry-run", code=1)
    assert {there: (row["comes"], row["stays"]) for there, row in lines.items() if row["found"]} == {
        "queue://A": (1, 1),
        "queue://B": (2, 0),
        "queue://orders": (KINDS, 1),
        "queue://zipped": (KINDS, 1),
        "topic://prices": (6, 0),
        "topic://price.x": (2, 0),
    }
    assert "unreadable" in lines["queue://A"]["why"]
    assert column(db, "select queue from howdah.list_queues() where not is_system and queue !~ 'DLQ'") == []
    assert column(db, "select source from howdah.list_imports()") == []
    shown = howdah(dsn, "import", "activemq", "--from", store, "--dry-run")
    assert shown.out.splitlines()[0].split("  ")[0] == "in ActiveMQ"
    assert "howdah: queue://A, row 27 stays: unreadable: " in shown.err


def test_what_cannot_be_read_is_told_and_the_others_come_over(dsn: str, db: Db, store: str) -> None:
    change(store, "update activemq_msgs set msg = substr(msg, 1, length(msg) - 1) where id = 27")
    change(store, "update activemq_msgs set msg = null where id = 30")
    change(store, "update activemq_msgs set xid = '100:0:0' where id = 12")
    lines = run(dsn, store, "--final", code=1)
    assert received(db, "A") == ["text 2"]
    assert received(db, "B") == ["text 1"]
    assert (
        lines["queue://orders"]["why"].startswith("1 in a prepared transaction")
        or "1 expired" in (lines["queue://orders"]["why"])
    )
    assert lines["queue://orders"]["stored"] == KINDS - 1


def test_what_the_server_refuses_is_told_and_the_others_come_over(dsn: str, db: Db, store: str) -> None:
    """A whole batch must not stay for the sake of one message."""
    db.execute("""select howdah.create_queue('orders', '{"max_message_bytes": 150}')""")
    lines = run(dsn, store, "--final", code=1)
    assert lines["queue://orders"]["stored"] == KINDS - 2
    assert "150" in lines["queue://orders"]["why"]


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


def test_only_the_final_pass_keeps_a_broker_out(dsn: str, store: str) -> None:
    """A master that waits for the lock may have it while a copy is made."""
    there = Store(store)
    with psycopg.connect(store) as broker:
        lock = "select id from activemq_lock for update nowait"
        assert one(broker, lock) == 1
        run(dsn, store)
        with pytest.raises(HowdahError, match="a broker has the store"):
            there.keep_brokers_out()
        broker.rollback()
        there.keep_brokers_out()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            broker.execute(lock)
    there.close()


def test_one_pass_at_a_time_reads_a_store(dsn: str, db: Db, store: str) -> None:
    """A pass with an older snapshot would take back what a later one brought."""
    other = Store(store)
    other.keep_others_out()
    assert "another pass copies from this store" in refused(dsn, store).err
    run(dsn, store, "--dry-run")
    other.close()
    run(dsn, store)


def test_names_that_cannot_be_here_stay_or_get_others(dsn: str, db: Db, store: str) -> None:
    change(store, "update activemq_msgs set container = 'queue://größe 1' where container = 'queue://A'")
    change(store, "update activemq_msgs set container = 'queue://prices' where container = 'queue://B'")
    lines = run(dsn, store, "--dry-run", code=1)
    assert "--map queue://größe 1=NAME" in lines["queue://größe 1"]["why"]
    clash = lines["queue://prices"]["stays"] + lines["topic://prices"]["stays"]
    assert clash in (2, 6)
    maps = ("--map", "größe 1=groesse", "--map", "queue://prices=price.list")
    run(dsn, store, "--final", *maps)
    assert received(db, "groesse") == ["text 1", "text 2"]
    assert received(db, "price.list") == ["text 1", "text 2"]
    change(store, "delete from activemq_msgs where container = 'queue://größe 1'")


@pytest.mark.parametrize("maps", [["B=A"], ["A=both", "B=both"]])
@pytest.mark.parametrize("how", ["--dry-run", "--final"])
def test_two_of_the_store_do_not_get_one_name(dsn: str, db: Db, store: str, maps: list[str], how: str) -> None:
    """Each pass would take the messages of the one back, as they are not in the other."""
    said = refused(dsn, store, how, *(word for given in maps for word in ("--map", given)))
    assert "would both be" in said.err
    assert column(db, "select queue from howdah.list_queues() where queue !~ '^_'") == []


def test_a_topic_without_messages_does_not_get_anothers_name(dsn: str, db: Db, store: str) -> None:
    """Its subscription would have read what the same one of the other topic has not."""
    change(store, "insert into activemq_acks values ('topic://other', 'topic://other', 'desk7', 'billing', null, 0, 0)")
    said = refused(dsn, store, "--final", "--map", "topic://other=prices")
    assert "topic://other and topic://prices would both be prices here" in said.err
    assert column(db, "select topic from howdah.list_topics()") == []


def test_two_subscriptions_do_not_get_one_name(dsn: str, db: Db, store: str) -> None:
    said = refused(dsn, store, "--final", "--map", "subscription://desk7:high=desk7:billing")
    assert "would both be prices:desk7:billing here" in said.err
    assert column(db, "select topic from howdah.list_topics()") == []


def test_a_subscription_whose_name_cannot_be_here_stays_or_gets_another(dsn: str, db: Db, store: str) -> None:
    change(store, "update activemq_acks set client_id = 'me@host', sub_name = 'bill ing' where sub_name = 'billing'")
    for words in (["--dry-run"], []):
        lines = run(dsn, store, *words, code=1)
        assert "--map 'subscription://me@host:bill ing=CLIENT:NAME'" in lines["topic://prices me@host:bill ing"]["why"]
    run(dsn, store, "--final", "--map", "subscription://me@host:bill ing=desk9:billing")
    assert received(db, "prices:desk9:billing") == ["text 3", "text 4", "text 5", "text 6"]


def test_what_is_no_store_is_said_in_a_line(dsn: str, db: Db, store: str, new_database: Callable[[], str]) -> None:
    assert "there is no table ACTIVEMQ_MSGS" in refused(dsn, new_database()).err
    assert "there is no table ACTIVEMQ_MSGS" in refused(dsn, dsn + " options='-csearch_path=howdah'").err
    change(store, "alter table activemq_msgs drop column xid")
    assert "has no column XID" in refused(dsn, store).err
    assert column(db, "select source from howdah.list_imports()") == []
    malformed = howdah(dsn, "import", "activemq", "--from", "postgresql://u:secret@host:port/db")
    assert (malformed.code, "secret" in malformed.err) == (3, False)


def test_a_lease_in_the_table_of_locks_is_a_running_broker(dsn: str, store: str) -> None:
    lease = "update activemq_lock set broker_name = 'b', time = extract(epoch from now()) * 1000"
    change(store, lease + " + 60000")
    assert "a broker has the store" in refused(dsn, store, "--final").err
    change(store, lease + " - 60000")
    run(dsn, store, "--final")


def test_only_an_administrator_imports(dsn: str, db: Db, store: str, connect: Connect) -> None:
    producer = connect("howdah_producer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        producer.execute("select howdah.begin_import('x')")
    assert howdah(dsn, "import", "activemq", "--from", store, "--role", "howdah_producer").code == 1


def test_two_passes_at_once_store_each_message_once(dsn: str, connect: Connect, db: Db) -> None:
    """The second one waits for the first, and then knows what it stored."""
    db.execute("select howdah.create_queue('q'), howdah.begin_import('s')")
    message = json.dumps([{"key": "k", "message_id": 1, "text": "x", "content_type": "text/plain"}] * 2)
    come = "select array[stored, repeated] from howdah.import_messages('s', 'q', %s)"
    first, second = connect(), connect()
    first.execute("begin")
    assert one(first, come, (message,)) == [1, 1]
    second.execute("set lock_timeout = '50ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        one(second, come, (message,))
    first.execute("commit")
    assert one(second, come, (message,)) == [0, 2]


def test_a_queue_of_a_virtual_topic_gets_no_second_copy(dsn: str, db: Db, store: str) -> None:
    """The broker keeps a row for such a queue among its subscriptions, and copies are in the store already."""
    queue = "queue://Consumer.A.prices"
    change(store, "insert into activemq_acks values (%s, %s, %s, %s, null, 0, 11, null)", *[queue] * 4)
    change(store, "update activemq_msgs set container = %s where container = 'queue://A'", queue)
    change(store, "update activemq_msgs set container = 'topic://VirtualTopic.o' where container = 'topic://prices'")
    change(
        store,
        "update activemq_acks set container = 'topic://VirtualTopic.o', sub_dest = 'topic://VirtualTopic.o'"
        " where container = 'topic://prices'",
    )
    one(db, "select howdah.create_topic('VirtualTopic.o')")
    one(db, "select howdah.create_queue('Consumer.A.prices')")
    db.execute("select howdah.pause('Consumer.A.prices', sending => false, receiving => true)")
    db.execute("select howdah.bridge('VirtualTopic.o', 'Consumer.A.prices')")
    lines = run(dsn, store)
    assert f"{queue} {queue}:{queue}" not in lines
    run(dsn, store, "--final")
    db.execute("select howdah.resume('Consumer.A.prices')")
    assert received(db, "Consumer.A.prices") == ["text 1", "text 2"]
    assert received(db, "VirtualTopic.o:desk7:billing") == ["text 3", "text 4", "text 5", "text 6"]
    # What is published here goes there.
    one(db, "select howdah.send('VirtualTopic.o', 'new')")
    assert received(db, "Consumer.A.prices") == ["new"]


def test_a_queue_that_was_paused_before_is_emptied_of_what_was_consumed_there(dsn: str, db: Db, store: str) -> None:
    """It is empty there, and has no row; nor does the import hold it."""
    one(db, "select howdah.create_queue('A')")
    db.execute("select howdah.pause('A', sending => false, receiving => true)")
    assert run(dsn, store)["queue://A"]["stored"] == 2
    change(store, "delete from activemq_msgs where container = 'queue://A'")
    assert run(dsn, store, "--final")["queue://A"]["withdrawn"] == 2
    assert one(db, "select count(*) from howdah.browse('A')") == 0
    assert one(db, "select receiving_paused from howdah.list_queues() where queue = 'A'")


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


def test_a_subscription_with_priorities_has_read_up_to_another_message_in_each(dsn: str, db: Db, store: str) -> None:
    """With prioritizedMessages the broker keeps a row for each priority. The primary key must have it, too."""
    change(store, "alter table activemq_acks drop constraint activemq_acks_pkey")
    change(
        store,
        "insert into activemq_acks select 'topic://prices', 'topic://prices', 'desk7', 'urgent', null,"
        " case p when 9 then 34 else 0 end, p from generate_series(0, 9) p",
    )
    change(store, "update activemq_msgs set priority = 9 where container = 'topic://prices' and mod(id, 2) = 0")
    unread = "select count(*) from activemq_msgs where container = 'topic://prices' and not (priority = 9 and id <= 34)"
    with psycopg.connect(store) as there:
        wanted = one(there, unread)
    run(dsn, store, "--final")
    assert 0 < wanted < 6
    assert len(received(db, "prices:desk7:urgent")) == wanted


def test_a_role_that_may_only_read_makes_all_passes_but_the_final_one(dsn: str, db: Db, store: str) -> None:
    reader = make_conninfo(store, user="howdah_reads", password="secret")
    with psycopg.connect(store) as owner:
        owner.execute("drop role if exists howdah_reads")
        owner.execute("create role howdah_reads login password 'secret'")
    try:
        assert "role howdah_reads may not read table ACTIVEMQ_MSGS" in refused(dsn, reader).err
        change(store, "grant select on activemq_msgs, activemq_acks to howdah_reads")
        run(dsn, reader, "--dry-run")
        run(dsn, reader)
        change(store, "grant select on activemq_lock to howdah_reads")
        assert "Grant UPDATE" in refused(dsn, reader, "--final").err
        change(store, "grant update on activemq_lock to howdah_reads")
        run(dsn, reader, "--final")
    finally:
        change(store, "drop owned by howdah_reads")
        change(store, "drop role howdah_reads")


@pytest.mark.slow
def test_a_message_that_breaks_the_contract_of_its_queue_stays(dsn: str, db: Db, store: str) -> None:
    one(db, """select howdah.create_queue('A', '{"contract": {"type": "object"}}')""")
    lines = run(dsn, store, "--final", code=1)
    assert (lines["queue://A"]["stays"], lines["queue://B"]["stored"]) == (2, 2)


def test_large_messages_are_fetched_a_few_at_a_time_and_in_their_order(
    dsn: str, db: Db, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass takes so much memory, whatever the store holds."""
    fetched: list[int] = []
    sound = Store._parts

    def parts(self: Store, *arguments: Any) -> Iterator[list[int]]:
        for numbers in sound(self, *arguments):
            fetched.append(len(numbers))
            yield numbers

    monkeypatch.setattr(Store, "_parts", parts)
    monkeypatch.setattr("howdah.cli.importing.source.FETCHED_BYTES", 600)
    run(dsn, store, "--final")
    assert (1 in fetched, max(fetched)) == (True, 2)
    assert received(db, "A") == ["text 1", "text 2"]
    assert received(db, "price.>:w:wild") == ["text 9", "text 10"]


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


@pytest.mark.slow
def test_a_reason_that_many_rows_have_is_told_a_few_times(dsn: str, db: Db, store: str) -> None:
    one(db, "select howdah.create_queue('orders')")
    said = refused(dsn, store)
    assert said.err.count("is received from here") == 10
    assert "queue://orders: more rows stay for the same reason" in said.err


def test_an_import_is_listed_and_forgotten(dsn: str, db: Db, store: str) -> None:
    run(dsn, store)
    (row,) = howdah(dsn, "import", "list", "--json").json
    assert (row["finished_at"], "A" in row["held"], row["stored"]) == (None, True, 2 * KINDS + 4 + 8)
    assert "paused queues" in howdah(dsn, "import", "forget", row["source"]).err
    run(dsn, store, "--final")
    said = howdah(dsn, "import", "forget", row["source"])
    assert said.out == f"{2 * KINDS + 12} messages of {row['source']} forgotten\n"
    assert howdah(dsn, "import", "list").out == "nothing was imported\n"


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
