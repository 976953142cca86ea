"""The largest message of the whole engine holds for all there are, whatever their own options say."""

from __future__ import annotations

import pytest
from message_size_support import SEND, limit, takes, temporary, topic
from policy_support import Create
from support import SYSTEM, Connect, Db, deliver_and_fail, one, receive, refused


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
