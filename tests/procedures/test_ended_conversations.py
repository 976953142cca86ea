"""A conversation ends once, refuses sends from then on, and keeps nobody waiting."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from policy_support import (
    CONVERSATION,
    Create,
    ids,
    outcomes,
    send,
)
from support import (
    Connect,
    Db,
    column,
    fail,
    one,
    receive,
    refused,
    wait_until_blocked,
)


@pytest.mark.behaviour("SSB-27")
def test_the_end_of_a_conversation_is_told_to_the_other_side_and_refuses_sends(db: Db, create: Create) -> None:
    create("initiator")
    create(preset="service_broker", max_failed_deliveries=1, decided_at="failure", limit_comparison="reached")
    send(db, conversation_id=CONVERSATION, reply_to="initiator", correlation_id="c")
    assert outcomes(db, 1) == ["ended"]
    assert ids(db, "q") == []
    assert one(db, "select conversation_id from howdah.browse('initiator')") == CONVERSATION
    (told,) = receive(db, "initiator")
    assert (told.message_type, told.correlation_id) == ("Error", "c")
    assert told.body == '{"code": 500, "text": "failed deliveries reached the limit"}'
    for queue in ("q", "initiator"):
        refused(db, "HD017", "select howdah.send(%s, 'x', conversation_id => %s)", (queue, CONVERSATION))
    refused(db, "HD017", "select howdah.send_batch('q', array['x'], conversation_ids => %s)", ([CONVERSATION],))
    send(db, conversation_id=UUID(int=8))


def test_an_application_ends_a_conversation_once(db: Db, create: Create, connect: Connect) -> None:
    create("initiator")
    call = "select howdah.end_conversation(%s, 42, 'no such account', 'initiator')"
    producer = connect("howdah_producer")
    assert one(producer, call, (CONVERSATION,))
    assert not one(producer, call, (CONVERSATION,))
    assert [message.body for message in receive(db, "initiator", 9)] == ['{"code": 42, "text": "no such account"}']
    refused(db, "HD005", "select howdah.end_conversation(null)")
    refused(db, "HD005", "select howdah.end_conversation(%s, -1, 'x')", (CONVERSATION,))
    refused(db, "HD001", "select howdah.end_conversation(%s, 1, 'x', 'nowhere')", (uuid4(),))


def test_a_receive_does_not_wait_for_a_conversation_that_another_transaction_is_just_ending(
    db: Db, create: Create, connect: Connect
) -> None:
    create(preset="service_broker", poison_handling=False, max_failed_deliveries=0)
    fail(db, send(db, conversation_id=CONVERSATION))
    healthy = send(db)
    other = connect()
    db.execute("set lock_timeout = '20s'")
    with other.transaction(force_rollback=True):
        assert one(other, "select howdah.end_conversation(%s)", (CONVERSATION,))
        assert ids(db, "q", "receive") == [healthy]
    assert one(db, "select count(*) from howdah.ended_conversations") == 0, "it was left to the other"


def test_who_ends_a_conversation_learns_whether_another_transaction_has_ended_it(
    db: Db, create: Create, connect: Connect
) -> None:
    call = "select howdah.end_conversation(%s)"
    other = connect()
    for undone in (True, False):
        with ThreadPoolExecutor() as pool:
            with db.transaction(force_rollback=undone):
                assert one(db, call, (CONVERSATION,))
                waiting = pool.submit(one, other, call, (CONVERSATION,))
                wait_until_blocked(connect(), other)
            assert waiting.result() is undone
            db.execute("delete from howdah.ended_conversations")


def test_incidents_of_an_ended_conversation_are_deleted_and_those_in_other_hands_not_waited_for(
    db: Db, create: Create, connect: Connect
) -> None:
    create(preset="service_broker", poison_handling=False, max_failed_deliveries=1, clean_incidents=True)
    first, second = (send(db, conversation_id=CONVERSATION) for _ in range(2))
    fail(db, first)
    fail(db, second)
    apart = send(db)
    fail(db, apart)
    other = connect()
    db.execute("set lock_timeout = '20s'")
    with other.transaction(force_rollback=True):
        other.execute("delete from howdah.poison_details where message_id = %s", (second,))
        assert ids(db, "q", "receive") == [apart]
    assert one(db, "select count(*) from howdah.ended_conversations") == 1
    assert column(db, "select message_id from howdah.poison_details order by 1") == [second, apart]
