"""In memory mode all messages of a destination are non-persistent."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import Db, one, receive
from topics_support import bodies, publish, subscribe, topic


@pytest.mark.first_case
@pytest.mark.behaviour("AMQ-68")
@pytest.mark.parametrize("where", ["option", "policy"])
def test_in_memory_mode_nothing_reaches_a_logged_message_table(db: Db, where: str) -> None:
    options: dict[str, Any] = {"persistent": False} if where == "option" else {}
    if where == "policy":
        one(db, "select howdah.set_policy('>', %s)", (Jsonb({"persistent": False}),))
    one(db, "select howdah.create_queue('q', %s)", (Jsonb(options),))
    topic(db, **options)
    one(db, "select howdah.create_queue('to', %s)", (Jsonb(options),))
    one(db, "select howdah.bridge('t', 'to')")
    subscribe(db, options={"max_failed_deliveries": 3, "redelivery_delay_ms": 1000})
    for kind in ("text", "jsonb", "bytea"):
        one(db, f"select howdah.send('q', '1'::{kind})")
        one(db, f"select howdah.send_batch('q', array['1']::{kind}[])")
        one(db, f"select howdah.send('t', '1'::{kind})")
        one(db, f"select howdah.send_batch('t', array['1']::{kind}[])")
    one(db, "select howdah.send('q', 'x', priority => 9)")
    one(db, "select howdah.send('q', 'x', delay => '1 h')")
    (failing,) = [m.message_id for m in receive(db, "t::s", 1, "browse")]
    one(db, "select outcome from howdah.record_failure('t::s', %s)", (failing,))
    logged = ["msgs", "topic_msgs_0", "topic_msgs_1", "topic_msgs_2"]
    assert [one(db, f"select count(*) from howdah.{table}") for table in logged] == [0, 0, 0, 0]
    assert one(db, "select count(*) from howdah.parked where boot is null") == 0
    assert len(receive(db, "q", 99)) == 7
    assert len(receive(db, "to", 99)) == 6
    assert {m.delivery_mode for m in receive(db, "t::s", 99)} == {"non-persistent"}


def test_memory_mode_is_switched_on_and_off_and_every_message_is_still_received(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    topic(db)
    subscribe(db)
    modes = ["persistent", "non-persistent", "persistent", "non-persistent"]
    for number, mode in enumerate(modes):
        option = Jsonb({"persistent": mode == "persistent"})
        one(db, "select howdah.alter_queue('q', %s)", (option,))
        one(db, "select howdah.alter_topic('t', %s)", (option,))
        assert one(db, "select howdah.queue_options('q')")["persistent"] is (mode == "persistent")
        assert one(db, "select howdah.topic_options('t')")["persistent"] is (mode == "persistent")
        publish(db, f"{number}", to="q")
        publish(db, f"{number}")
    for name in ("q", "t::s"):
        got = receive(db, name, 9)
        assert sorted((m.body, m.delivery_mode) for m in got) == [(f"{n}", mode) for n, mode in enumerate(modes)]
    assert (bodies(db, "q"), bodies(db)) == ([], [])


def test_dead_messages_of_memory_mode_stay_in_memory_and_their_queues_are_made_so(db: Db) -> None:
    options = {"persistent": False, "preset": "activemq", "process_non_persistent": True}
    one(db, "select howdah.create_queue('q', %s)", (Jsonb(options),))
    (sent,) = publish(db, "x", to="q")
    assert one(db, "select outcome from howdah.record_failure('q', %s, reject => true)", (sent,)) == "moved"
    assert [m.delivery_mode for m in receive(db, "ActiveMQ.DLQ", 9, "browse")] == ["non-persistent"]
    assert one(db, "select count(*) from howdah.msgs") == 0
