"""A dropped queue is gone, and no message that is committed after the drop is lost."""

import threading
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Connect, Db, one, receive, refused, wait_until_blocked


def test_drop_refuses_a_queue_with_messages_unless_forced(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send_batch('q', array['a', 'b'])")
    one(db, "select howdah.send('q', 'c', delay => '1 hour')")
    one(db, "select howdah.send('q', 'd', delivery_mode => 'non-persistent')")

    refused(db, "HD011", "select howdah.drop_queue('q')")
    refused(db, "HD011", "select howdah.drop_queue('q', null)")
    assert one(db, "select howdah.drop_queue('q', force => true)") == 4
    refused(db, "HD001", "select howdah.drop_queue('q', force => true)")
    assert one(db, "select count(*) from howdah.audit_messages") == 0
    assert db.execute(
        "select queue, event, reason, count(*) from howdah.audit_journal group by 1, 2, 3"
    ).fetchall() == [("q", "discarded", "queue dropped", 4)]


def test_a_dropped_name_can_be_used_again_and_starts_empty(db: Db) -> None:
    first = one(db, """select howdah.create_queue('q', '{"default_priority": 9}')""")
    one(db, "select howdah.drop_queue('q')")
    second = one(db, "select howdah.create_queue('q')")

    assert second != first
    assert one(db, "select default_priority from howdah.list_queues() where queue = 'q'") == 4


def test_a_message_committed_after_the_drop_reaches_the_system_exception_destination(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    sender = connect()
    with sender.transaction():
        late = one(sender, "select howdah.send('q', 'late')")
        one(db, "select howdah.drop_queue('q')")
    assert one(db, "select howdah.maintain_dropped()") == 1
    assert one(db, "select howdah.maintain_dropped()") == 0

    (message,) = receive(db, SYSTEM)
    assert (message.message_id, message.origin_queue, message.dead_reason) == (late, "q", "queue dropped")


@pytest.mark.parametrize(
    ("policy", "level"),
    [
        ({"at_limit": "discard"}, None),
        ({"at_limit": "quarantine"}, None),
        ({"at_limit": "end_conversation"}, None),
        ({"preset": "service_broker"}, None),
        ({"preset": "activemq"}, "RELIABLE_NONPERSISTENT"),
        ({"process_non_persistent": False}, "EXPRESS_NONPERSISTENT"),
        ({"exception_discard_reliability": "ASSURED_PERSISTENT"}, None),
        ({"exception_discard_reliability": None}, "BEST_EFFORT_NONPERSISTENT"),
    ],
)
def test_a_message_committed_after_the_drop_is_rescued_whatever_the_policy_was(
    db: Db, connect: Connect, policy: dict[str, Any], level: str | None
) -> None:
    one(db, "select howdah.create_queue('q', %s)", (Jsonb(policy),))
    one(db, "select howdah.create_queue('replies')")
    conversation = uuid4()
    sender = connect()
    send = (
        "select howdah.send('q', 'late', conversation_id => %s, reply_to => 'replies', reliability => %s,"
        " correlation_id => 'c')"
    )
    with sender.transaction():
        late = one(sender, send, (conversation, level))
        one(db, "select howdah.drop_queue('q')")
    assert one(db, "select howdah.maintain_dropped()") == 1

    (message,) = receive(db, SYSTEM)
    assert (message.message_id, message.dead_reason) == (late, "queue dropped")
    assert one(db, "select count(*) from howdah.ended_conversations") == 0


def test_two_drops_at_once_drop_once(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    other = connect()
    said: list[str | None] = []

    def drop() -> None:
        try:
            one(other, "select howdah.drop_queue('q')")
        except psycopg.Error as error:
            said.append(error.sqlstate)

    with db.transaction():
        one(db, "select howdah.drop_queue('q')")
        thread = threading.Thread(target=drop)
        thread.start()
        wait_until_blocked(db, other)
    thread.join()
    assert said == ["HD001"]
