"""Who has an unshared subscription: a transaction, the bearer of a lease, an open consumer.

Nobody changes it meanwhile.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import Clock, Connect, Db, column, fail, one, receive, refused
from topics_support import bodies, maintain, publish, subscribe, topic

LEASED = "messages of subscription 't::s' are leased"


@pytest.fixture(autouse=True)
def a_topic(db: Db) -> None:
    topic(db, retain_ms=3_600_000)


def lease(
    db: Db, n: int = 1, name: str = "t::s", consumer: int | None = None, seconds: float = 30
) -> tuple[int, list[str]]:
    rows = db.execute(
        "select lease, body from howdah.lease(%s, %s, %s * interval '1 second', null, %s)", (name, n, seconds, consumer)
    ).fetchall()
    return (rows[0][0] if rows else 0, [row[1] for row in rows])


def opened(db: Db, name: str = "t::s", **options: Any) -> int | None:
    names = "".join(f", {key} => %s" for key in options)
    number: int | None = one(db, f"select howdah.open_consumer(%s{names})", (name, *options.values()))
    return number


def ended(db: Db) -> list[tuple[str, int]]:
    return db.execute(
        "select j.event, count(*) from howdah.journal j, unnest(j.message_ids) i(id)"
        " where j.event <> 'sent' group by 1 order by 1"
    ).fetchall()


def test_a_lease_keeps_every_other_consumer_from_an_unshared_subscription_until_it_ends(
    db: Db, connect: Connect, clock: Clock
) -> None:
    name = subscribe(db)
    publish(db, "a", "b", "c")
    number, got = lease(db, 2, seconds=10)
    assert got == ["a", "b"]
    for session in (db, connect()):
        for verb in ("receive", "receive_locked", "lease"):
            said = refused(session, "HD024", f"select howdah.{verb}(%s)", (name,))
            assert said.message_primary == LEASED
    assert one(db, "select howdah.ack(%s, %s)", (name, number)) == 2
    assert bodies(db, name, 1) == ["c"]
    publish(db, "d", "e")
    lease(db, seconds=10)
    clock.advance(11)
    assert [(m.body, m.delivery_count) for m in receive(db, name, 9)] == [("d", 2), ("e", 1)]
    publish(db, "f")
    number, _ = lease(db)
    assert one(db, "select howdah.release(%s, %s)", (name, number)) == 1
    assert bodies(db, name) == ["f"]


def test_an_open_consumer_leases_ahead_and_acknowledges_out_of_order(db: Db, clock: Clock) -> None:
    name = subscribe(db)
    other = subscribe(db, "o")
    sent = publish(db, "a", "b", "c", "d")
    mine = opened(db)
    first, got = lease(db, 2, consumer=mine, seconds=10)
    assert got == ["a", "b"]
    assert lease(db, 1, consumer=mine, seconds=100)[1] == ["c"]
    assert column(db, "select body from howdah.receive(%s, 1, consumer => %s)", (name, mine)) == ["d"]
    assert one(db, "select howdah.ack(%s, %s, %s)", (name, first, [sent[1]])) == 1
    clock.advance(11)
    assert lease(db, 9, consumer=mine)[1] == ["a"]
    assert column(
        db, "select howdah.ack(%s, l.lease) from howdah.list_leases(%s) l order by l.lease", (name, name)
    ) == [1, 1]
    assert lease(db, 9, consumer=mine) == (0, [])
    assert bodies(db, other) == ["a", "b", "c", "d"], "the other subscriber is not disturbed"


def test_while_an_unshared_subscription_has_an_open_consumer_every_other_one_is_refused(
    db: Db, connect: Connect, clock: Clock
) -> None:
    name = subscribe(db)
    publish(db, "a", "b")
    mine, second = opened(db, timeout="30 s"), connect()
    for session in (db, second):
        refused(session, "HD024", "select howdah.open_consumer(%s)", (name,))
        for verb in ("receive", "receive_locked", "lease"):
            said = refused(session, "HD024", f"select howdah.{verb}(%s)", (name,))
            assert "has an open consumer" in (said.message_primary or "")
    assert column(second, "select body from howdah.receive(%s, 1, consumer => %s)", (name, mine)) == ["a"]
    refused(db, "HD032", "select howdah.receive(%s, 1, consumer => %s)", (name, (mine or 0) + 1))
    clock.advance(31)
    theirs = opened(second)
    refused(db, "HD032", "select howdah.receive(%s, 1, consumer => %s)", (name, mine))
    assert one(second, "select howdah.close_consumer(%s)", (theirs,)) is True
    assert bodies(db, name) == ["b"]


def test_a_consumer_opens_only_when_nobody_reads_and_nothing_is_leased(db: Db, connect: Connect, clock: Clock) -> None:
    name = subscribe(db)
    publish(db, "a", "b")
    reader = connect()
    with reader.transaction():
        assert bodies(reader, name, 1) == ["a"]
        refused(db, "HD024", "select howdah.open_consumer(%s)", (name,))
    lease(db, seconds=10)
    refused(db, "HD024", "select howdah.open_consumer(%s)", (name,))
    clock.advance(11)
    assert opened(db) is not None
    opening, late = connect(), connect()
    other = subscribe(db, "o")
    with opening.transaction():
        opened(opening, other)
        refused(late, "HD024", "select howdah.open_consumer(%s)", (other,))
        refused(late, "HD024", "select howdah.receive(%s)", (other,))


def test_a_consumer_of_its_own_session_ends_with_it(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    publish(db, "a")
    doomed = connect()
    opened(doomed, own_session=True)
    refused(db, "HD024", "select howdah.receive(%s)", (name,))
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    assert bodies(db, name) == ["a"]


def test_what_a_consumer_of_a_subscription_has_leased_comes_back_with_the_end_of_its_session(
    db: Db, connect: Connect, clock: Clock
) -> None:
    name = subscribe(db)
    publish(db, "a", "b")
    doomed = connect()
    consumer = opened(doomed, own_session=True)
    query = "select body, redelivered from howdah.lease(%s, 1, '1 hour', consumer => %s)"
    assert doomed.execute(query, (name, consumer)).fetchall() == [("a", False)]
    one(db, "select pg_terminate_backend(%s, 10000)", (doomed.info.backend_pid,))
    other = opened(db)
    assert db.execute(query, (name, other)).fetchall() == [("a", True)]


def test_a_shared_subscription_has_no_number_for_a_consumer_and_a_topic_no_consumer(db: Db) -> None:
    name = subscribe(db, shared=True)
    publish(db, "a", "b")
    assert opened(db, name) is None
    assert (lease(db, 1)[1], lease(db, 1)[1]) == (["a"], ["b"])
    refused(db, "HD032", "select howdah.receive(%s, 1, consumer => 1)", (name,))
    refused(db, "HD005", "select howdah.open_consumer('t')")
    for option in ("exclusive => true", "priority => 3"):
        refused(db, "HD005", f"select howdah.open_consumer(%s, {option})", (name,))


def test_only_who_may_receive_from_a_subscription_opens_a_consumer_of_it(db: Db, connect: Connect) -> None:
    name = subscribe(db)
    one(db, "select howdah.revoke_queue(%s, 'receive', 'howdah_consumer')", (name,))
    refused(connect("howdah_consumer"), "HD010", "select howdah.open_consumer(%s)", (name,))


CHANGES = {
    "unsubscribe": "select howdah.unsubscribe('t::s')",
    "redefine": "select howdah.subscribe('t', 's', selector => 'x = 1', shared => %s)",
    "seek": "select howdah.seek_subscription('t::s', 'infinity')",
    "purge": "select howdah.purge_queue('t::s')",
    "drop": "select howdah.drop_topic('t', force => true)",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shared", [False, True], ids=["unshared", "shared"])
def test_a_subscription_with_leased_messages_is_neither_changed_nor_ended(db: Db, change: str, shared: bool) -> None:
    name = subscribe(db, shared=shared)
    publish(db, "a", "b")
    number, _ = lease(db)
    said = refused(db, "HD024", CHANGES[change].replace("%s", str(shared)))
    assert said.message_primary == LEASED
    assert one(db, "select howdah.ack(%s, %s)", (name, number)) == 1
    db.execute(CHANGES[change].replace("%s", str(shared)).encode())
    assert dict(ended(db)).get("consumed") == 1


def test_a_leased_message_that_had_been_set_aside_keeps_the_subscription_too(db: Db) -> None:
    name = subscribe(db)
    (sent,) = publish(db, "a")
    fail(db, sent, name, delay="1 ms")
    one(db, "select howdah.retry(%s, array[%s])", (name, sent))
    number, got = lease(db)
    assert got == ["a"]
    assert one(db, "select count(*) from howdah.parked where lease_id is not null") == 1
    for call in ("unsubscribe", "receive", "lease", "open_consumer"):
        assert refused(db, "HD024", f"select howdah.{call}(%s)", (name,)).message_primary == LEASED
    assert one(db, "select howdah.ack(%s, %s)", (name, number)) == 1
    one(db, "select howdah.unsubscribe(%s)", (name,))


def test_a_subscription_is_not_ended_under_its_open_consumer_but_may_be_read_anew(db: Db) -> None:
    name = subscribe(db)
    mine = opened(db)
    publish(db, "a")
    refused(db, "HD024", CHANGES["unsubscribe"])
    refused(db, "HD024", CHANGES["redefine"].replace("%s", "false"))
    assert one(db, CHANGES["purge"]) == 1
    one(db, "select howdah.seek_subscription(%s, '-infinity')", (name,))
    assert column(db, "select body from howdah.receive(%s, 9, consumer => %s)", (name, mine)) == ["a"]
    one(db, "select howdah.close_consumer(%s)", (mine,))
    one(db, CHANGES["unsubscribe"])


@pytest.mark.parametrize("action", ["drop_backlog", "drop_subscription"])
def test_a_backlog_is_not_dropped_while_messages_of_it_are_leased(db: Db, action: str) -> None:
    one(db, "select howdah.alter_topic('t', %s)", (f'{{"backlog_limit": 2, "backlog_action": "{action}"}}',))
    name = subscribe(db)
    publish(db, *"abcde")
    number, got = lease(db, 2)
    maintain(db)
    assert maintain(db) == "", "warned, and no more"
    assert one(db, "select howdah.ack(%s, %s)", (name, number)) == len(got)
    assert maintain(db).startswith("dropped")
    assert ended(db) == [("consumed", 2), ("discarded", 3)] if action == "drop_backlog" else [("consumed", 2)]


def test_a_fleeting_subscription_does_not_end_while_its_consumer_works_off_what_it_holds(db: Db, clock: Clock) -> None:
    name = subscribe(db, None, durable=False)
    publish(db, "a")
    mine = opened(db, name, timeout="1 day")
    number, _ = lease(db, 1, name, mine)
    one(db, "select setval(s.alive, 1) from howdah.subscriptions s")  # not heard of for long
    assert maintain(db) == ""
    assert one(db, "select howdah.ack(%s, %s)", (name, number)) == 1
    assert maintain(db) == "", "its consumer is open"
    one(db, "select howdah.close_consumer(%s)", (mine,))
    one(db, "select setval(s.alive, 1) from howdah.subscriptions s")
    assert maintain(db) == f"ended {name}"


def test_a_usual_receive_of_a_subscription_asks_for_no_consumer(db: Db) -> None:
    name = subscribe(db)
    publish(db, "a")
    with db.transaction():
        db.execute("set local track_functions = 'all'")
        assert bodies(db, name) == ["a"]
        calls = "select pg_stat_get_xact_function_calls(%s::regprocedure)"
        assert one(db, calls, ("howdah._begin_stream(text, boolean, boolean, bigint)",)) == 1, "calls are counted"
        assert one(db, calls, ("howdah._check_reader(howdah.destinations, bigint)",)) is None
