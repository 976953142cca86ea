"""A moved message remembers its origin and evidence, and the journal adds up."""

from typing import Any

import pytest
from operator_acts_support import dead
from support import SYSTEM, Db, column, fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


@pytest.mark.behaviour("WAS-04")
def test_a_moved_message_remembers_its_origin_and_replay_sends_it_home(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 3}')""")
    sent = one(db, "select howdah.send('q', 'x', headers => '{\"a\": 1}', correlation_id => 'c', priority => 7)")
    fail(db, sent)
    everywhere = "select array_agg(message_id) from howdah.audit_messages"

    def content(queue: str) -> tuple[Any, ...]:
        (m,) = receive(db, queue, verb="browse")
        return m.message_id, m.body, m.headers, m.correlation_id, m.priority, m.sent_at, m.content_type

    before = content("q")
    assert one(db, "select howdah.move_messages('q', %s, 'aside', 'look at it')", ([sent, sent],)) == 1
    (message,) = receive(db, "aside", verb="browse")
    assert (message.origin_queue, message.dead_at, message.delivery_count) == ("q", None, 1)
    assert (content("aside"), one(db, everywhere)) == (before, [sent])
    refused(db, "HD013", "select howdah.move_messages('q', %s, 'aside')", ([sent],))
    assert one(db, "select howdah.replay('aside')") == 1
    assert (content("q"), one(db, everywhere)) == (before, [sent])
    (message,) = receive(db)
    assert (message.origin_queue, message.stage, message.delivery_count) == (None, 2, 1)


def test_a_dead_message_moved_on_keeps_its_evidence_and_moved_to_its_origin_is_as_before(db: Db) -> None:
    sent = dead(db, "broken")
    (before,) = receive(db, SYSTEM, verb="browse")
    one(db, "select howdah.move_messages(%s, %s, 'aside', 'see ticket 7')", (SYSTEM, [sent]))
    (message,) = receive(db, "aside", verb="browse")
    assert (message.dead_at, message.origin_queue) == (before.dead_at, "q")
    assert message.dead_reason is not None
    assert message.dead_reason.startswith("failed deliveries reached the limit; moved by ")
    assert message.dead_reason.endswith(": see ticket 7")
    assert one(db, "select count(*) from howdah.incidents('q', %s)", (sent,)) == 1
    one(db, "select howdah.move_messages('aside', %s, 'q')", ([sent],))
    (message,) = receive(db)
    assert (message.dead_at, message.dead_reason, message.origin_queue) == (None, None, None)


def test_a_message_moved_to_the_systems_exception_destination_is_dead(db: Db) -> None:
    sent = one(db, "select howdah.send('q', 'x', time_to_live => '1 h')")
    one(db, "select howdah.move_messages('q', %s, %s)", ([sent], SYSTEM))
    assert column(db, "select message_id from howdah.list_poison()") == [sent]
    assert column(db, "select expires_at from howdah.audit_messages") == [None]


def test_the_journal_of_a_move_adds_up_in_both_queues(db: Db) -> None:
    ids = [
        one(db, "select howdah.send('q', 'x', delivery_mode => %s)", (mode,))
        for mode in ("persistent", "non-persistent")
    ]
    one(db, "select howdah.move_messages('q', %s, 'aside')", (ids,))
    figures = "select moved_out, moved_in, live, enqueued - dequeued from howdah.queue_stats(%s)"
    assert db.execute(figures.encode(), ("q",)).fetchall() == [(2, 0, 0, 0)]
    assert db.execute(figures.encode(), ("aside",)).fetchall() == [(0, 2, 2, 2)]
