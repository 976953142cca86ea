"""The largest message of the whole engine: whom it holds for, whatever their own options say, and since when."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from policy_support import Create
from support import SYSTEM, Connect, Db, column, deliver_and_fail, one, receive, refused, wait_until_blocked

SEND = "select howdah.send(%s, %s)"


def limit(db: Db, size: Any) -> None:
    one(db, "select howdah.alter_engine(%s::jsonb)", (json.dumps({"max_message_bytes": size}),))


def topic(db: Db, name: str = "t", **options: Any) -> None:
    one(db, "select howdah.create_topic(%s, %s::jsonb)", (name, json.dumps(options)))


def temporary(db: Db) -> str:
    name: str = one(db, "select howdah.create_temporary_queue()")
    return name


def takes(db: Db, size: int, to: str = "q") -> None:
    """A queue or topic takes a body of so many bytes, and none of one more."""
    one(db, SEND, (to, "x" * size))
    refused(db, "HD007", SEND, (to, "x" * (size + 1)))


def holds(db: Db, queue: str = "q") -> tuple[int, int]:
    """What holds for a queue, and what its own option says."""
    (row,) = db.execute(
        "select max_message_bytes, howdah.queue_options(queue) -> 'max_message_bytes'"
        " from howdah.list_queues(true) where queue = %s",
        (queue,),
    ).fetchall()
    return (row[0], row[1])


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create()


#: Each way to send, with a body of {n} bytes in it.
WAYS = {
    "text": "send('q', repeat('x', {n}))",
    "JSON": "send('q', to_jsonb(repeat('x', {n} - 2)))",
    "bytes": "send('q', convert_to(repeat('x', {n}), 'UTF8'))",
    "characters of two bytes": "send('q', repeat('é', {n} / 2) || repeat('x', {n} % 2))",
    "headers": """send('q', repeat('x', {n}), headers => '{{"a": 1}}', priority => 9)""",
    "a time to live": "send('q', repeat('x', {n}), time_to_live => '1 hour')",
    "a conversation": "send('q', repeat('x', {n}), conversation_id => gen_random_uuid())",
    "non-persistent": "send('q', repeat('x', {n}), delivery_mode => 'non-persistent')",
    "delayed": "send('q', repeat('x', {n}), delay => '1 hour')",
    "once": "send('q', repeat('x', {n}), deduplication_key => 'k')",
    "composite": "send('r, topic://t, q', repeat('x', {n}))",
    "batch": "send_batch('q', array['x', repeat('x', {n})])",
    "batch of JSON": "send_batch('q', array['1', to_jsonb(repeat('x', {n} - 2))])",
    "batch of bytes": "send_batch('q', array[convert_to(repeat('x', {n}), 'UTF8')])",
    "batch, once": "send_batch('q', array[repeat('x', {n})], deduplication_keys => array['k'])",
    "batch, composite": "send_batch('q,t', array[repeat('x', {n})])",
    "scheduled": "schedule('q', repeat('x', {n}), cron => '30 8 * * *')",
    "scheduled with a period": "schedule('t', repeat('x', {n}), period => '1 hour', repeat => 2)",
    "scheduled by headers": """send('q', repeat('x', {n}), headers => '{{"AMQ_SCHEDULED_DELAY": "1000"}}')""",
    "topic": "send('t', repeat('x', {n}))",
    "topic, non-persistent": "send('t', repeat('x', {n}), delivery_mode => 'non-persistent')",
    "topic, batch": "send_batch('t', array['x', repeat('x', {n})])",
    "topic with a bridge": "send('bridged', repeat('x', {n}))",
    "virtual topic": "send('VirtualTopic.v', repeat('x', {n}))",
    "topic never stored": "send('unread', repeat('x', {n}))",
}


@pytest.mark.behaviour("IMQ-44")
@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_send_takes_a_body_of_the_limit_and_refuses_the_byte_beyond(
    db: Db, create: Create, connect: Connect, way: str
) -> None:
    create("r")
    for name in ("t", "bridged", "VirtualTopic.v", "unread"):
        topic(db, name)
    create("Consumer.c.VirtualTopic.v")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.bridge('bridged', 'q')")
    limit(db, 3000)
    producer = connect("howdah_producer")
    said = refused(producer, "HD007", f"select howdah.{WAYS[way].format(n=3001)}")
    assert said.message_primary == "the body has 3001 bytes, the engine takes at most 3000"
    assert "max_message_bytes of howdah.alter_engine" in (said.message_hint or "")
    assert one(producer, f"select howdah.{WAYS[way].format(n=3000)}")
    limit(db, 10)
    said = refused(producer, "HD007", f"select howdah.{WAYS[way].format(n=11)}")
    assert said.message_primary == "the body has 11 bytes, the engine takes at most 10"
    if "once" not in way:
        assert one(producer, f"select howdah.{WAYS[way].format(n=10)}")


@pytest.mark.behaviour("IMQ-44")
def test_it_is_changed_both_ways_and_given_up_for_all_there_are_at_once(
    db: Db, create: Create, connect: Connect
) -> None:
    create("small", max_message_bytes=5)
    topic(db, max_message_bytes=50)
    other = connect()
    takes(other, 5, "small")
    for size, expected in ((10, (10, 5, 10)), (4, (4, 4, 4)), ("1k", (1024, 5, 50)), (7, (7, 5, 7))):
        limit(db, size)
        takes(other, expected[0])
        takes(other, expected[1], "small")
        takes(other, expected[2], "t")
    assert (holds(db), holds(db, "small")) == ((7, 73400320), (5, 5))
    for none in (0, -1, None, "0k"):
        limit(db, 7)
        limit(db, none)
        assert one(db, "select howdah.engine_options() -> 'max_message_bytes' = 'null'")
        one(other, SEND, ("q", "x" * 100_000))
        takes(other, 5, "small")
        takes(other, 50, "t")
    assert holds(db) == (73400320, 73400320)


def test_one_that_is_rolled_back_never_held(db: Db, connect: Connect) -> None:
    setter = connect()
    setter.execute("begin")
    limit(setter, 3)
    one(db, SEND, ("q", "four"))
    setter.execute("rollback")
    one(db, SEND, ("q", "four"))
    assert holds(db) == (73400320, 73400320)


#: How a queue or topic is given a larger message of its own.
OWN = {
    "alter_queue": """select howdah.alter_queue('q', '{"max_message_bytes": 1000}')""",
    "a preset beside it": """select howdah.alter_queue('q', '{"preset": "activemq", "max_message_bytes": 1000}')""",
    "a policy by wildcard": """select howdah.set_policy('>', '{"max_message_bytes": 1000}')""",
    "another option only": """select howdah.alter_queue('q', '{"max_message_bytes": 1000}'),
        howdah.alter_queue('q', '{"default_priority": 7}'), howdah.alter_queue('q', '{"message_limit": 9}')""",
    "create_queue": """select howdah.drop_queue('q'), howdah.create_queue('q', '{"max_message_bytes": 1000}')""",
    "create_queue under a policy": """select howdah.drop_queue('q'),
        howdah.set_policy('q', '{"max_message_bytes": 1000}'),
        howdah.create_queue('q')""",
    "create_topic": """select howdah.drop_queue('q'), howdah.create_topic('q', '{"max_message_bytes": 1000}')""",
    "alter_topic": """select howdah.drop_queue('q'), howdah.create_topic('q'),
        howdah.alter_topic('q', '{"max_message_bytes": 1000}'),
        howdah.alter_topic('q', '{"default_priority": 7}')""",
}


@pytest.mark.behaviour("IMQ-44")
@pytest.mark.parametrize("way", OWN)
def test_no_option_given_afterwards_goes_beyond_it_and_what_was_given_holds_once_it_is_gone(db: Db, way: str) -> None:
    limit(db, 10)
    db.execute(OWN[way].encode())
    takes(db, 10)
    said = refused(db, "HD007", SEND, ("q", "x" * 1001)).message_primary
    assert said == "the body has 1001 bytes, the engine takes at most 10"
    kind = "topic" if "topic" in way else "queue"
    assert one(db, f"select howdah.{kind}_options('q') -> 'max_message_bytes'") == 1000
    limit(db, 0)
    takes(db, 1000)
    assert "'q' takes at most 1000" in (refused(db, "HD007", SEND, ("q", "x" * 1001)).message_primary or "")


def test_a_dead_letter_queue_that_a_queue_needs_is_held_to_it(db: Db, create: Create) -> None:
    create("before", exception_mode="shared")
    limit(db, 10)
    create("after", exception_mode="dead_letter")
    takes(db, 10, "ActiveMQ.DLQ")
    takes(db, 10, "SYSTEM.DEAD.LETTER.QUEUE")


def test_a_smaller_option_holds_under_it_and_the_error_names_the_queue(db: Db) -> None:
    topic(db)
    limit(db, 10)
    one(
        db,
        """select howdah.alter_queue('q', '{"max_message_bytes": 4}'),"""
        """ howdah.alter_topic('t', '{"max_message_bytes": 4}')""",
    )
    takes(db, 4)
    takes(db, 4, "t")
    said = refused(db, "HD007", SEND, ("q", "x" * 11))
    assert said.message_primary == "the body has 11 bytes, queue 'q' takes at most 4"
    one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 10}')""")
    said = refused(db, "HD007", SEND, ("q", "x" * 11))  # raising the queue's would not help
    assert "the engine takes at most 10" in (said.message_primary or "")


def test_what_the_options_show_can_be_given_back(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 1000}')""")
    limit(db, "1k")
    one(db, "select howdah.alter_engine(howdah.engine_options())")
    limit(db, 10)
    one(db, "select howdah.alter_queue('q', howdah.queue_options('q'))")
    one(db, "select howdah.alter_engine(howdah.engine_options())")
    assert (holds(db), one(db, "select howdah.engine_options() -> 'max_message_bytes'")) == ((10, 1000), 10)


@pytest.mark.behaviour("IMQ-44")
def test_temporary_queues_are_held_to_it_those_in_use_new_ones_and_ended_ones_used_again(
    db: Db, connect: Connect
) -> None:
    client = connect()
    ended, used = temporary(client), temporary(client)
    one(client, "select howdah.drop_temporary_queue(%s)", (ended,))
    limit(db, 10)
    destinations = "select count(*) from howdah.destinations"
    before = one(db, destinations)
    again = temporary(client)
    assert one(db, destinations) == before  # it was used again
    new = temporary(client)
    assert one(db, destinations) == before + 1
    for name in (used, again, new):
        takes(db, 10, name)
        refused(db, "HD007", "select howdah.respond(%s, %s, 'c')", (name, "x" * 11))
    one(client, "select howdah.drop_temporary_queue(%s)", (again,))
    limit(db, 0)
    one(db, SEND, (temporary(client), "x" * 11))


def test_an_ended_temporary_queue_is_held_to_the_other_limits_of_the_engine_when_it_is_used_again(
    db: Db, connect: Connect
) -> None:
    client = connect()
    one(client, "select howdah.drop_temporary_queue(%s)", (temporary(client),))
    one(db, """select howdah.alter_engine('{"max_count": 1, "red_threshold": 100, "orange_delay_ms": 0}')""")
    name = temporary(client)
    one(db, SEND, (name, "x"))
    refused(db, "HD027", SEND, (name, "x"))


def test_what_was_taken_before_is_delivered_fails_and_is_moved_as_ever_but_not_edited_to_more(db: Db) -> None:
    sent = one(db, "select howdah.send('q', 'eleven long')")
    one(db, "select howdah.send('q', 'eleven long', delay => '1 ms')")
    limit(db, 10)
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    deliver_and_fail(db)
    deliver_and_fail(db)
    assert [message.body for message in receive(db, SYSTEM, 9, verb="browse")] == ["eleven long"] * 2
    refused(db, "HD007", "select howdah.replay_edited(%s, %s, body => 'eleven more')", (SYSTEM, sent))
    assert one(db, "select howdah.replay(%s)", (SYSTEM,)) == 2
    assert [message.body for message in receive(db, n=9)] == ["eleven long"] * 2


def test_a_schedule_made_before_fails_as_it_fires_and_says_why(db: Db) -> None:
    one(db, "select howdah.schedule('q', 'eleven long', period => '1 ms', repeat => 1)")
    limit(db, 10)
    one(db, "select pg_sleep(0.01)")
    one(db, "select howdah.fire_schedules()")
    (row,) = db.execute("select state, last_error from howdah.list_schedules()").fetchall()
    assert row == ("failed", "the body has 11 bytes, the engine takes at most 10")


MEANWHILE: dict[str, Callable[[Db], Any]] = {
    "create_queue": lambda db: one(db, "select howdah.create_queue('new')"),
    "create_topic": lambda db: topic(db, "new"),
    "alter_queue": lambda db: one(db, """select howdah.alter_queue('old', '{"max_message_bytes": 1000}')"""),
    "alter_topic": lambda db: one(db, """select howdah.alter_topic('old_t', '{"max_message_bytes": 1000}')"""),
    "set_policy": lambda db: one(db, """select howdah.set_policy('old', '{"max_message_bytes": 1000}')"""),
    "a temporary queue": temporary,
}


@pytest.fixture
def meanwhile(db: Db, create: Create) -> None:
    create("old", max_message_bytes=20)
    topic(db, "old_t", max_message_bytes=20)


def names(db: Db) -> list[str]:
    return column(db, "select name from howdah.destinations where not is_system and dropped_at is null")


@pytest.mark.parametrize("act", MEANWHILE)
def test_one_set_while_a_destination_is_being_made_or_altered_holds_for_that_one_too(
    db: Db, connect: Connect, meanwhile: None, act: str
) -> None:
    maker, setter = connect(), connect()
    maker.execute("begin")
    MEANWHILE[act](maker)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(limit, setter, 10)
        wait_until_blocked(db, setter)
        maker.execute("commit")
        done.result(10)
    for name in names(db):
        takes(db, 10, name)


@pytest.mark.parametrize("act", MEANWHILE)
def test_a_destination_made_or_altered_while_one_is_being_set_waits_and_is_held_to_it(
    db: Db, connect: Connect, meanwhile: None, act: str
) -> None:
    maker, setter = connect(), connect()
    setter.execute("begin")
    limit(setter, 10)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(MEANWHILE[act], maker)
        wait_until_blocked(db, maker)
        setter.execute("commit")
        done.result(10)
    for name in names(db):
        takes(db, 10, name)


@pytest.mark.parametrize("first", ["the limit", "the queue"])
def test_a_temporary_queue_used_again_while_one_is_being_set_is_held_to_it(
    db: Db, connect: Connect, first: str
) -> None:
    client, setter = connect(), connect()
    one(client, "select howdah.drop_temporary_queue(%s)", (temporary(client),))
    earlier, later = (setter, client) if first == "the limit" else (client, setter)
    acts: dict[Db, Callable[[], Any]] = {setter: lambda: limit(setter, 10), client: lambda: temporary(client)}
    earlier.execute("begin")
    acts[earlier]()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(acts[later])
        wait_until_blocked(db, later)
        earlier.execute("commit")
        done.result(10)
    (name,) = column(db, "select name from howdah.destinations where name ^@ '_TEMP.' and dropped_at is null")
    takes(db, 10, name)


@pytest.mark.slow
def test_queues_altered_and_made_at_once_with_the_engine_end_without_deadlock_and_under_its_last_word(
    db: Db, connect: Connect
) -> None:
    def act(number: int) -> None:
        session = sessions[number]
        for turn in range(15):
            if number < 2:
                limit(session, 10 + turn + number)
            elif number < 4:
                one(
                    session,
                    """select howdah.alter_queue('q', '{"max_message_bytes": %s}')""" % (5 + turn * 10 + number),
                )
            else:
                one(session, "select howdah.create_queue(%s)", (f"q{number}_{turn}",))

    sessions = [connect() for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(act, range(6)))
    size = one(db, "select howdah.engine_options() -> 'max_message_bytes'")
    assert size in (24, 25)
    assert len(names(db)) == 31
    for name in names(db):
        takes(db, size, name)


@pytest.mark.behaviour("IMQ-44")
@pytest.mark.parametrize(
    ("size", "expected"), [("70m", 73400320), ("1K", 1024), ("7b", 7), ("7", 7), (7, 7), ("0", None), (-1, None)]
)
@pytest.mark.parametrize("name", ["max_message_bytes", "imq.message.max_size"])
def test_it_has_the_units_and_the_name_of_sun_one_mq(db: Db, name: str, size: str | int, expected: int | None) -> None:
    one(db, "select howdah.alter_engine(%s::jsonb)", (json.dumps({name: size}),))
    assert one(db, "select howdah.engine_options() -> 'max_message_bytes'") == expected


@pytest.mark.parametrize("wrong", ['"10g"', '"k"', "-2", "1.5", "true", "[]", "{}", '""', '"-1k1"', '"1 k"'])
def test_a_wrong_size_is_refused_with_a_hint_and_changes_nothing(db: Db, wrong: str) -> None:
    limit(db, 10)
    for name in ("max_message_bytes", "imq.message.max_size"):
        said = refused(
            db, "HD004", "select howdah.alter_engine(%s::jsonb)", (f'{{"max_count": 1, "{name}": {wrong}}}',)
        )
        assert "option max_message_bytes cannot be" in (said.message_primary or "")
        assert "10k" in (said.message_hint or "")
    assert holds(db) == (10, 73400320)
    assert one(db, "select howdah.engine_options() -> 'max_count' = 'null'")


def test_only_administrators_set_it_and_everybody_may_see_it(db: Db, connect: Connect) -> None:
    limit(db, 10)
    for role in ("producer", "consumer", "browser", "auditor"):
        session = connect(f"howdah_{role}")
        refused(session, "42501", """select howdah.alter_engine('{"max_message_bytes": 100}')""")
        assert one(session, "select howdah.engine_options() -> 'max_message_bytes'") == 10
    limit(connect("howdah_admin"), 11)
    takes(db, 11)


def test_a_queue_cannot_be_given_what_holds_by_the_columns_name(db: Db) -> None:
    for call in ("alter_queue('q'", "create_queue('r'", "set_policy('>'", "create_topic('t'"):
        refused(db, "HD004", f"""select howdah.{call}, '{{"own_max_message_bytes": 9}}')""")
    refused(db, "HD004", """select howdah.alter_engine('{"max_bytes": 9}')""")
