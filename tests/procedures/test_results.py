"""Results of messages: kept in the handler's transaction, told to who may send, waited for, and dropped in time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from policy_support import Create
from support import Clock, Connect, Db, one, receive, refused, wait_until_blocked

from howdah.engine import Session, connect
from howdah.engine.aio import connect_async

KEEP = "select howdah.keep_result('q', %s, %s::jsonb)"


def told(db: Db, message_id: int, queue: str = "q") -> dict[str, Any]:
    cursor = db.cursor(row_factory=psycopg.rows.dict_row)
    return cursor.execute("select * from howdah.result(%s, %s)", (queue, message_id)).fetchone() or {}


def state(db: Db, message_id: int) -> str:
    return str(told(db, message_id)["state"])


@pytest.fixture
def queue(create: Create) -> None:
    create(keep_results_ms=60_000, max_failed_deliveries=2)


def test_a_result_is_committed_with_the_consumption_or_not_at_all(db: Db, queue: None, connect: Connect) -> None:
    number = one(db, "select howdah.send('q', 'a')")
    other = connect()
    assert state(db, number) == "waiting"
    for commits in (False, True):
        with db.transaction(force_rollback=not commits):
            assert len(receive(db)) == 1
            assert one(db, KEEP, (number, '{"cups": 2}')) is True
            assert state(other, number) == "waiting"
        assert state(other, number) == ("done" if commits else "waiting")
    found = told(db, number)
    assert (found["value"], found["failures"], found["error_text"], found["body"]) == ({"cups": 2}, 0, None, None)
    assert found["errors"] == []


def test_a_second_result_replaces_the_first_and_null_is_a_result(db: Db, queue: None) -> None:
    number = one(db, "select howdah.send('q', 'a')")
    receive(db)
    assert [one(db, KEEP, (number, value)) for value in ("1", None)] == [True, True]
    assert (told(db, number)["state"], told(db, number)["value"]) == ("done", None)


def test_it_is_told_until_its_time_is_over_and_then_deleted(db: Db, queue: None, clock: Clock) -> None:
    number = one(db, "select howdah.send('q', 'a')")
    receive(db)
    one(db, KEEP, (number, "1"))
    clock.advance(59.9)
    assert state(db, number) == "done"
    assert one(db, "select howdah.maintain_results()") == 0
    clock.advance(0.2)
    assert state(db, number) == "unknown"
    assert one(db, "select howdah.maintain_results()") == 1
    assert one(db, "select count(*) from howdah.results") == 0
    refused(db, "HD005", "select howdah.maintain_results(max_results => 0)")
    refused(db, "HD014", "select howdah.maintain_results(99)")


def test_a_queue_without_the_option_keeps_nothing(db: Db, create: Create) -> None:
    create()
    number = one(db, "select howdah.send('q', 'a')")
    assert not one(db, "select howdah.keeps_results('q')")
    assert not one(db, "select howdah.keeps_results('none')")
    receive(db)
    assert one(db, KEEP, (number, "1")) is False
    assert state(db, number) == "unknown"


def test_a_message_at_its_limit_has_failed_with_its_last_error(db: Db, queue: None) -> None:
    number = one(db, "select howdah.send('q', 'a')")
    for text in ("first", "second"):
        with db.transaction(force_rollback=True):
            receive(db)
        one(
            db,
            "select howdah.record_failure('q', %s, error_class => 'ValueError', error_text => %s)",
            (number, text),
        )
        expected = ("waiting", 1) if text == "first" else ("failed", 2)
        assert (told(db, number)["state"], told(db, number)["failures"]) == expected
        assert (told(db, number)["error_class"], told(db, number)["error_text"]) == ("ValueError", text)
    assert told(db, number)["body"] == "a"
    exception_queue = one(db, "select name from howdah.destinations d join howdah.msgs m on d.id = m.destination_id")
    one(db, "select howdah.replay(%s, array[%s::bigint], reason => 'again')", (exception_queue, number))
    assert (told(db, number)["state"], told(db, number)["failures"]) == ("waiting", 0)
    receive(db)
    one(db, KEEP, (number, "true"))
    assert (told(db, number)["state"], told(db, number)["error_text"]) == ("done", None)


@pytest.mark.parametrize("by", ["receive", "maintenance"])
def test_an_expired_message_is_told_apart(db: Db, queue: None, clock: Clock, by: str) -> None:
    number = one(db, "select howdah.send('q', 'a', time_to_live => '1 second')")
    clock.advance(2)
    assert state(db, number) == "expired"
    if by == "receive":
        assert receive(db) == []
    else:
        while one(db, "select howdah.maintain_expired()"):
            pass
    assert one(db, "select count(*) from howdah.msgs") == 0
    assert state(db, number) == "expired"


def test_a_leased_message_is_running_and_a_delayed_one_waits(db: Db, queue: None, clock: Clock) -> None:
    leased = one(db, "select howdah.send('q', 'a')")
    delayed = one(db, "select howdah.send('q', 'b', delay => '1 hour')")
    one(db, "select count(*) from howdah.lease('q', 1, '30 seconds')")
    assert [state(db, leased), state(db, delayed)] == ["running", "waiting"]
    clock.advance(31)
    assert state(db, leased) == "waiting"


def test_a_result_is_no_larger_than_a_message(db: Db, create: Create) -> None:
    create(keep_results_ms=1000, max_message_bytes=100)
    number = one(db, "select howdah.send('q', 'a')")
    refused(db, "HD007", KEEP, (number, '"' + 99 * "x" + '"'))
    assert one(db, KEEP, (number, '"' + 98 * "x" + '"')) is True


def test_who_may_send_is_told_and_who_may_receive_tells(db: Db, queue: None, connect: Connect) -> None:
    number = one(db, "select howdah.send('q', 'secret')")
    producer, consumer, browser = (connect(f"howdah_{role}") for role in ("producer", "consumer", "browser"))
    assert told(producer, number)["state"] == "waiting"
    assert told(producer, number)["body"] is None
    assert told(browser, number)["body"] == "secret"
    refused(producer, "42501", KEEP, (number, "1"))
    receive(consumer)
    assert one(consumer, KEEP, (number, "1")) is True
    assert told(producer, number)["value"] == 1
    db.execute("select howdah.set_rule('default', 'queue', 'q', 'produce', false, 'group', '{howdah_producer}')")
    refused(producer, "HD010", "select * from howdah.result('q', %s)", (number,))
    refused(producer, "HD010", "select * from howdah.wait_result('q', %s)", (number,))
    refused(db, "HD001", "select * from howdah.result('none', 1)")
    refused(db, "HD005", "select * from howdah.result('q', null)")
    refused(db, "HD005", "select * from howdah.wait_result('q', null)")
    refused(db, "HD005", KEEP, (None, "1"))


def test_an_alias_tells_of_its_queue_to_the_same_people(db: Db, queue: None, connect: Connect) -> None:
    db.execute("select howdah.create_alias('a', 'q')")
    number = one(db, "select howdah.send('a', 'x')")
    assert one(db, "select howdah.keeps_results('a')")
    assert told(connect("howdah_browser"), number, "a")["body"] == "x"
    assert one(connect("howdah_browser"), "select payload from howdah.wait_result('a', %s)", (number,))


def test_a_redaction_hides_the_body_from_those_who_may_only_browse(db: Db, queue: None, connect: Connect) -> None:
    """While it waits, when it has failed, and by the rule of its own queue though it lies elsewhere by then."""
    db.execute("select howdah.set_redaction('q', '$.card')")
    db.execute("grant howdah_browser to howdah_consumer")
    try:
        browser, consumer = connect("howdah_browser"), connect("howdah_consumer")
        number = one(db, """select howdah.send('q', '{"card": 4711, "item": "mocha"}'::jsonb)""")
        for fails in (False, True, True):
            if fails:
                one(db, "select howdah.record_failure('q', %s, error_text => 'no milk')", (number,))
            assert told(browser, number)["body"] == '{"card": "[redacted]", "item": "mocha"}'
            assert "4711" in told(db, number)["body"]
            assert "4711" in told(consumer, number)["body"]
        assert told(browser, number)["state"] == "failed"
    finally:
        db.execute("revoke howdah_browser from howdah_consumer")


def test_a_kept_result_tells_of_the_failures_of_its_stage(db: Db, queue: None) -> None:
    number = one(db, "select howdah.send('q', 'a')")
    one(db, "select howdah.record_failure('q', %s, error_class => 'LookupError', error_text => 'first')", (number,))
    with db.transaction():
        (message,) = Session(db).receive("q")
        Session(db).keep_result(message, 1)
    found = Session(db).result("q", number)
    assert (found.state, found.failures, found.error_text, [e["class"] for e in found.errors]) == (
        "done", 1, "first", ["LookupError"],
    )  # fmt: skip
    for stage in (-1, 32768):
        refused(db, "HD005", "select howdah.keep_result('q', %s, '1', stage => %s)", (number, stage))


def test_of_two_who_keep_a_result_once_the_second_waits_and_gets_false(db: Db, queue: None, connect: Connect) -> None:
    once = "select howdah.keep_result_once('q', -1, %s)"
    first, second = connect(), connect()
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(one(second, once, ("2",))))
    with first.transaction():
        assert one(first, once, ("1",)) is True
        thread.start()
        wait_until_blocked(db, second)
    thread.join()
    assert found == [False]
    assert one(db, once, ("1",)) is True, "the same value again: its answer may have been lost"
    assert one(db, "select value from howdah.result('q', -1)") == 1
    for again, value in ((-2, "null"), (-2, '"b"'), (-1, None)):
        kept = one(db, once.replace("-1", str(again)), (value,))
        assert kept is (value == "null"), value
    assert one(db, once.replace("-1", "-3"), (None,)) is True
    assert one(db, once.replace("-1", "-3"), ("1",)) is False, "no value is a value too"
    assert refused(db, "HD005", "select howdah.keep_result_once('q', null, '1')")
    assert refused(connect("howdah_producer"), "42501", once, ("3",))


def test_a_queue_does_not_tell_of_another_queues_messages(db: Db, queue: None, create: Create) -> None:
    create("r", keep_results_ms=1000)
    number = one(db, "select howdah.send('q', 'a')")
    one(db, "select howdah.keep_result('r', %s, '1')", (number,))
    assert state(db, number) == "waiting"


def test_only_a_result_that_somebody_waits_for_notifies(db: Db, queue: None, connect: Connect, clock: Clock) -> None:
    ears = connect()
    ears.execute("listen howdah")
    first, second = (one(db, "select howdah.send('q', 'a')") for _ in "ab")
    payload = one(db, "select payload from howdah.wait_result('q', %s)", (second,))
    before = one(db, "select xmin::text from howdah.result_waiters")
    one(db, "select payload from howdah.wait_result('q', %s)", (second,))
    assert one(db, "select xmin::text from howdah.result_waiters") == before
    for number in (first, second):
        one(db, KEEP, (number, "1"))
    one(db, "select howdah.keep_result('q', %s, '1', notify => false)", (second,))
    one(db, "select pg_notify('howdah', 'end')")
    heard = [note.payload for note in ears.notifies(timeout=10, stop_after=2)]
    assert heard == [payload, "end"]
    clock.advance(61)
    one(db, "select howdah.maintain_results()")
    assert one(db, "select count(*) from howdah.result_waiters") == 0


def test_a_connection_asks_in_a_session_of_its_own(db: Db, queue: None, dsn: str) -> None:
    number = one(db, "select howdah.send('q', 'a')")

    async def ask() -> str:
        async with connect_async(dsn) as connection:
            return (await connection.result("q", number, wait=0.01)).state

    with connect(dsn) as connection:
        assert connection.result("q", number, wait=0.01).state == "waiting"
        assert asyncio.run(ask()) == "waiting"
        receive(db)
        one(db, KEEP, (number, "1"))
        assert connection.result("q", number, wait=30).value == 1


def waits(dsn: str, number: int, seconds: float, asked: Callable[[], None]) -> Any:
    with connect(dsn) as connection, connection.session() as session:
        asked()
        return session.result("q", number, wait=seconds)


def test_a_session_waits_for_the_result(db: Db, queue: None, dsn: str) -> None:
    number = one(db, "select howdah.send('q', 'a')")
    found: list[Any] = []
    started = threading.Event()
    thread = threading.Thread(target=lambda: found.append(waits(dsn, number, 30, started.set)))
    thread.start()
    started.wait(10)
    while not one(db, "select count(*) from howdah.result_waiters"):
        pass
    with db.transaction():
        (message,) = Session(db).receive("q")
        Session(db).keep_result(message, ["espresso"])
    thread.join(10)
    assert (found[0].state, found[0].value, found[0].is_open) == ("done", ["espresso"], False)


def test_a_wait_ends_when_its_time_is_up(db: Db, queue: None, dsn: str) -> None:
    number = one(db, "select howdah.send('q', 'a')")
    assert waits(dsn, number, 0.05, lambda: None).state == "waiting"
    assert waits(dsn, number + 1_000_000, 30, lambda: None).state == "unknown"


def test_an_asyncio_session_waits_likewise(db: Db, queue: None, dsn: str) -> None:
    number = one(db, "select howdah.send('q', 'a')")

    async def wait() -> Any:
        async with connect_async(dsn) as connection, await connection.session() as session:
            task = asyncio.create_task(session.result("q", number, wait=30))
            while not await asyncio.to_thread(one, db, "select count(*) from howdah.result_waiters"):
                await asyncio.sleep(0.01)
            await asyncio.to_thread(one, db, KEEP, (number, "7"))
            receive(db)
            return await task

    assert asyncio.run(wait()).value == 7
