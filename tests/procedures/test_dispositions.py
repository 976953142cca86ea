"""What becomes of a message at its limit, and who is told of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from policy_support import (
    ADVISORY,
    CONVERSATION,
    DEAD_LETTER,
    Create,
    alter,
    ids,
    outcomes,
    send,
)
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    column,
    deliver_and_fail,
    fail,
    one,
    receive,
    refused,
    wait_until_blocked,
)


@pytest.mark.behaviour("WAS-13")
def test_a_named_destination_that_is_missing_falls_back_to_the_systems(db: Db, create: Create) -> None:
    create("MY.EXC")
    create(max_failed_deliveries=1, exception_queue="MY.EXC")
    first, second = send(db), send(db)
    assert outcomes(db, 1) == ["moved"]
    assert ids(db, "MY.EXC") == [first]
    one(db, "select howdah.drop_queue('MY.EXC', true)")
    assert outcomes(db, 1) == ["moved"]
    (dead,) = receive(db, SYSTEM, 1, "browse")
    assert (dead.message_id, dead.dead_reason) == (
        second,
        "failed deliveries reached the limit; there is no queue MY.EXC",
    )


@pytest.mark.parametrize("limit", [{"message_limit": 1}, {"byte_limit": 1}])
def test_a_full_destination_falls_back_too(db: Db, create: Create, limit: dict[str, int]) -> None:
    create("small", **limit)
    create(max_failed_deliveries=1, exception_queue="small")
    send(db)
    second = send(db)
    assert outcomes(db, 2) == ["moved", "moved"]
    assert ids(db, SYSTEM) == [second]


@pytest.mark.parametrize("limit", [{"message_limit": 2}, {"byte_limit": 4}])
def test_a_full_queue_refuses_sends_and_takes_them_again_when_there_is_room(
    db: Db, create: Create, limit: dict[str, int]
) -> None:
    create("q", **limit)
    send(db, body="ab")
    send(db, body="cd")
    refused(db, "HD018", "select howdah.send('q', 'ef')")
    refused(db, "HD018", "select howdah.send_batch('q', array['g'])")
    assert len(receive(db)) == 1
    send(db, body="ef")


def test_an_operator_may_fill_a_queue_beyond_its_limits(db: Db, create: Create) -> None:
    create("aside")
    create(message_limit=1, byte_limit=1, max_failed_deliveries=1)
    dead = send(db)
    assert outcomes(db, 1) == ["moved"]
    other = send(db, "aside")
    send(db)
    assert one(db, f"select howdah.replay('{SYSTEM}')") == 1
    assert one(db, "select howdah.move_messages('aside', %s, 'q')", ([other],)) == 1
    assert {dead, other} < set(ids(db, "q"))


@pytest.mark.behaviour("WAS-42")
@pytest.mark.behaviour("WAS-43")
def test_backing_out_needs_five_rights_of_the_consumers_role(db: Db, create: Create, connect: Connect) -> None:
    create("BACKOUT")
    create(preset="websphere_mq", max_failed_deliveries=1, exception_queue="BACKOUT")
    consumer = connect("howdah_consumer")
    for verb in ("send", "pass_all", "set_all"):  # get and inquire it has
        one(db, "select howdah.grant_queue('BACKOUT', %s, 'howdah_consumer')", (verb,))
    sent = send(db, correlation_id="c")
    at = one(db, "select sent_at from howdah.browse('q')")
    fail(consumer, sent)
    assert receive(consumer) == []
    (backed_out,) = receive(db, "BACKOUT", 1, "browse")
    assert (backed_out.message_id, backed_out.correlation_id) == (sent, "c")
    assert one(db, "select sent_at from howdah.browse('BACKOUT')") == at
    for verb in ("receive", "browse", "send", "pass_all", "set_all"):
        assert one(db, "select howdah.revoke_queue('BACKOUT', %s, 'howdah_consumer')", (verb,))
        assert not one(db, "select howdah.revoke_queue('BACKOUT', %s, 'howdah_consumer')", (verb,)), "a second call"
        sent = send(db)
        fail(consumer, sent)
        assert receive(consumer) == []
        (dead,) = receive(db, DEAD_LETTER)
        assert dead.message_id == sent, verb
        assert "NOT_AUTHORIZED" in str(dead.dead_reason)
        one(db, "select howdah.grant_queue('BACKOUT', %s, 'howdah_consumer')", (verb,))


@pytest.mark.behaviour("WAS-44")
def test_a_message_that_is_backed_out_is_its_producers_still_whom_the_engine_stamped(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create("BACKOUT", stamp_user=True)
    create(preset="websphere_mq", max_failed_deliveries=1, exception_queue="BACKOUT", stamp_user=True)
    for verb in ("send", "pass_all", "set_all"):
        one(db, "select howdah.grant_queue('BACKOUT', %s, 'howdah_consumer')", (verb,))
    sent = send(
        connect("howdah_producer"),
        headers=Jsonb({"JMSXUserID": "alice", "JMSXAppID": "shop", "n": 1}),
        correlation_id="c",
        reply_to="answers",
        message_type="order",
        conversation_id=CONVERSATION,
        priority=7,
    )
    query = (
        "select to_jsonb(m) - array['queue', 'position', 'stage', 'delivery_count', 'redelivered', 'origin_queue',"
        " 'dead_reason', 'dead_at'] from howdah.browse(%s) m"
    )
    before = one(db, query, ("q",))
    assert before["headers"] == {"JMSXUserID": "howdah_producer", "JMSXAppID": "shop", "n": 1}
    assert one(db, "select sent_at from howdah.browse('q')") == clock.now
    clock.advance(3600)
    consumer = connect("howdah_consumer")
    fail(consumer, sent)
    assert receive(consumer) == []
    assert one(db, query, ("BACKOUT",)) == before, "the consumer, who moved it, is stamped nowhere"
    (backed_out,) = receive(db, "BACKOUT", 1, "browse")
    assert (backed_out.origin_queue, backed_out.dead_at) == ("q", clock.now)
    one(db, "select howdah.replay('BACKOUT', %s)", ([sent],))
    assert one(db, query, ("q",))["headers"] == before["headers"], "nor the operator who replays it"


def test_every_way_of_sending_stamps_its_user_where_that_is_wanted_and_no_other_does(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(stamp_user=True)
    create("plain")
    create("bridged", stamp_user=True)
    create("alices", stamp_user=True)
    one(db, "select howdah.create_topic('unstamped'), howdah.bridge('unstamped', 'bridged')")
    one(db, "select howdah.bridge('unstamped', 'alices', $$JMSXUserID = 'alice'$$)")
    one(db, "select howdah.create_topic('t', '{\"stamp_user\": true}')")
    one(db, "select howdah.subscribe('t', 's')")
    producer = connect("howdah_producer")
    for query in (
        "howdah.send({}, 'a'::text)",
        "howdah.send({}, '{{}}'::jsonb, headers => '{{\"JMSXUserID\": \"alice\"}}')",
        "howdah.send({}, repeat('x', 100000)::bytea)",
        "howdah.send({}, 'a'::text, delivery_mode => 'non-persistent', deduplication_key => 'k')",
        "howdah.send_batch({}, array['a', 'b'])",
        (
            "howdah.send_batch({}, array['a', 'b'], headers => array['{{}}', null]::jsonb[],"
            " deduplication_keys => array['x', 'y'])"
        ),
        "howdah.schedule({}, 'a'::text, period => interval '1 minute', repeat => 0)",
        "howdah.respond({}, 'a'::text, headers => '{{\"JMSXUserID\": \"alice\"}}')",
    ):
        for name in ("q", "plain", "t", "unstamped"):
            one(producer, "select " + query.format(f"'{name}'"))
    for name in ("q", "plain", "t", "unstamped"):
        with producer.transaction():
            one(producer, "select howdah.begin_copy()")
            producer.execute("insert into pg_temp.howdah_copy values ('a', '{\"JMSXUserID\": \"alice\"}'), ('b', null)")
            assert one(producer, "select howdah.send_copied(%s)", (name,)) == 2
    one(producer, "select howdah.send('q,plain', 'both'::text)")
    clock.advance(61)
    assert one(db, "select fired from howdah.fire_schedules()") == 4
    assert len(receive(db, n=99, verb="browse")) == 13
    assert one(db, "select count(*) from howdah.browse('bridged', max_messages => 99)") == 12
    users = "select headers ->> 'JMSXUserID' from howdah.receive(%s, 99)"
    assert set(column(db, users, ("q",))) == {"howdah_producer"}
    assert set(column(db, users, ("t::s",))) == {"howdah_producer"}
    assert set(column(db, users, ("bridged",))) == {"howdah_producer"}
    assert column(db, users, ("alices",)) == [], "the bridge's selector read a forged user"
    assert set(column(db, users, ("plain",))) == {None, "alice"}
    one(db, "select howdah.alter_queue('q', '{\"stamp_user\": false}')")
    one(producer, "select howdah.send('q', 'a'::text)")
    assert column(db, users, ("q",)) == [None]
    one(db, "select howdah.alter_queue('q', '{\"stamp_user\": true}')")
    one(producer, "select howdah.send('q', 'a'::text)")
    assert column(db, users, ("q",)) == ["howdah_producer"]


def test_rights_are_granted_by_administrators_only_and_must_exist(db: Db, create: Create, connect: Connect) -> None:
    create()
    refused(db, "HD005", "select howdah.grant_queue('q', 'fly', 'howdah_consumer')")
    refused(db, "HD005", "select howdah.grant_queue('q', 'send', 'no such role')")
    refused(connect("howdah_consumer"), "42501", "select howdah.grant_queue('q', 'send', 'howdah_consumer')")
    rights = db.execute("select verb, role from howdah.list_grants('q')").fetchall()
    assert ("receive", "howdah_consumer") in rights


@pytest.mark.behaviour("AMQ-110")
def test_activemqs_dead_messages_say_what_they_were(db: Db, create: Create, clock: Clock) -> None:
    create(preset="activemq", max_failed_deliveries=0, exception_mode="shared", process_non_persistent=True)
    alter(db, max_failed_deliveries=1, limit_comparison="reached")
    sent = send(db, delivery_mode="non-persistent", time_to_live=timedelta(seconds=60))
    expiry = one(db, "select expires_at from howdah.msgs_nonpersistent")
    assert outcomes(db, 1) == ["moved"]
    (dead,) = receive(db, "ActiveMQ.DLQ", 1, "browse")
    assert (dead.message_id, dead.delivery_mode, dead.expires_at) == (sent, "persistent", None)
    assert dead.headers == {
        "originalExpiration": round(expiry.timestamp() * 1000),
        "originalDeliveryMode": "NON_PERSISTENT",
        "dlqDeliveryFailureCause": "failed deliveries reached the limit",
    }


@pytest.mark.behaviour("AMQ-112")
@pytest.mark.behaviour("AMQ-113")
@pytest.mark.parametrize("processed", [False, True])
def test_non_persistent_messages_are_dead_lettered_only_if_the_policy_says_so(
    db: Db, create: Create, processed: bool
) -> None:
    create(preset="activemq", max_failed_deliveries=1, limit_comparison="reached", process_non_persistent=processed)
    send(db, delivery_mode="non-persistent")
    assert outcomes(db, 1) == ["moved" if processed else "discarded"]
    assert len(ids(db, "ActiveMQ.DLQ")) == int(processed)
    assert one(db, "select discarded from howdah.queue_stats('q')") == int(not processed)


def test_individual_dead_letter_queues_bear_the_prefix(db: Db, create: Create) -> None:
    create(exception_mode="individual", exception_prefix="DLQ.", max_failed_deliveries=1)
    sent = send(db)
    assert outcomes(db, 1) == ["moved"]
    assert ids(db, "DLQ.q") == [sent]


@pytest.mark.behaviour("SSB-26")
def test_a_message_can_simply_be_discarded(db: Db, create: Create) -> None:
    create(at_limit="discard", max_failed_deliveries=1)
    send(db)
    assert outcomes(db, 1) == ["discarded"]
    assert ids(db, SYSTEM) == []
    assert one(db, "select discarded from howdah.queue_stats('q')") == 1


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


@pytest.mark.behaviour("SSB-28")
def test_a_message_at_its_limit_is_logged_into_a_table_and_a_queue(db: Db, create: Create) -> None:
    create("log")
    create(max_failed_deliveries=1, at_limit="discard", log_table=True, log_queue="log")
    sent = send(db, body="bad", reply_to="r")
    assert outcomes(db, 1) == ["discarded"]
    logged = db.execute("select message_id, body_text, outcome from howdah.audit_poison_log").fetchall()
    assert logged == [(sent, "bad", "discarded")]
    (copy,) = receive(db, "log")
    assert (copy.body, copy.headers) == (
        "bad",
        {
            "logged_message_id": sent,
            "logged_queue": "q",
            "logged_outcome": "discarded",
            "logged_reason": "failed deliveries reached the limit",
        },
    )


def test_an_administrator_is_told_by_the_advisory_queue(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=1, notify_admin=True)
    sent = send(db)
    assert outcomes(db, 1) == ["moved"]
    (advisory,) = receive(db, ADVISORY)
    assert advisory.message_type == "MESSAGE_DEAD"
    assert one(db, "select %s::jsonb - 'at'", (advisory.body,)) == {
        "event": "MESSAGE_DEAD",
        "queue": "q",
        "message_id": sent,
        "outcome": "moved",
        "reason": "failed deliveries reached the limit",
    }


def test_the_sender_is_answered_with_an_error(db: Db, create: Create) -> None:
    create("replies")
    create(max_failed_deliveries=1, error_reply=True)
    first = send(db, reply_to="replies")
    send(db, reply_to="nowhere")
    send(db, reply_to="q")
    assert outcomes(db, 3) == ["moved"] * 3
    (reply,) = receive(db, "replies", 9)
    assert (reply.message_type, reply.correlation_id) == ("Error", str(first))
    assert ids(db, "q") == []


@pytest.mark.behaviour("SSB-30")
def test_quarantine_returns_the_message_with_its_history_and_then_moves_it(
    db: Db, create: Create, clock: Clock
) -> None:
    create(max_failed_deliveries=2, at_limit="quarantine", quarantine_ms=60000, log_table=True)
    sent = send(db)
    assert outcomes(db, 2) == ["returned", "quarantined"]
    clock.advance(59)
    assert receive(db) == []
    clock.advance(1)
    assert outcomes(db, 2) == ["returned", "moved"]
    assert ids(db, SYSTEM) == [sent]
    assert len(column(db, "select incident_id from howdah.incidents('q')")) == 4
    assert column(db, "select outcome from howdah.poison_log order by log_id") == ["quarantined", "moved"]


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


def test_replies_and_copies_go_to_no_queue_that_is_paused_full_or_the_engines(db: Db, create: Create) -> None:
    create("paused")
    one(db, "select howdah.pause('paused', receiving => false)")
    create("full", message_limit=1)
    send(db, "full")
    create(max_failed_deliveries=1, at_limit="discard", error_reply=True, notify_admin=True)
    create("mq", preset="websphere_mq")
    targets = ("paused", "full", DEAD_LETTER, SYSTEM, ADVISORY)
    for target in targets:
        if not target.startswith("_"):  # which is refused
            alter(db, log_queue=target)
        send(db, reply_to=target)
        assert outcomes(db, 1) == ["discarded"]
    types = [[message.message_type for message in receive(db, target, 9, "browse")] for target in targets]
    assert types == [[], [None], [], [], ["MESSAGE_DEAD"] * 5]


def test_a_message_in_its_last_stage_is_quarantined_no_more(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=1, at_limit="quarantine", quarantine_ms=1000, quarantine_times=9)
    sent = send(db)
    db.execute("update howdah.msgs set stage = 32766")
    assert outcomes(db, 1) == ["quarantined"]
    clock.advance(1)
    assert outcomes(db, 1) == ["moved"]
    (dead,) = receive(db, SYSTEM, verb="browse")
    assert (dead.message_id, dead.stage) == (sent, 32767)


def test_two_exception_queues_of_each_other_give_a_message_to_the_systems(db: Db, create: Create) -> None:
    create("a")
    create("b", exception_queue="a", max_failed_deliveries=1)
    one(db, "select howdah.alter_queue('a', %s)", (Jsonb({"exception_queue": "b", "max_failed_deliveries": 1}),))
    sent = send(db, "a")
    assert [deliver_and_fail(db, queue) for queue in "ab"] == [(1, "moved")] * 2
    (dead,) = receive(db, SYSTEM, verb="browse")
    assert (dead.message_id, dead.origin_queue) == (sent, "a")
    assert "it came from queue a" in str(dead.dead_reason)


@pytest.mark.parametrize("last", ["a", "b"])
def test_no_circle_of_exception_queues_leads_round(db: Db, create: Create, last: str) -> None:
    for queue in "abc":
        create(queue, max_failed_deliveries=1)
    for queue, target in zip("abc", "bc" + last, strict=True):
        one(db, "select howdah.alter_queue(%s, %s)", (queue, Jsonb({"exception_queue": target})))
    sent = send(db, "a")
    for _ in range(2):
        assert [deliver_and_fail(db, queue) for queue in "abc"] == [(1, "moved")] * 3
        (dead,) = receive(db, SYSTEM, verb="browse")
        assert (dead.message_id, dead.origin_queue) == (sent, "a")
        assert f"it came from queue {last}" in str(dead.dead_reason)
        assert one(db, f"select howdah.replay('{SYSTEM}')") == 1


def test_two_log_queues_of_each_other_get_one_copy(db: Db, create: Create) -> None:
    create("a")
    create("b", log_queue="a", max_failed_deliveries=1, at_limit="discard")
    options = {"log_queue": "b", "max_failed_deliveries": 1, "at_limit": "discard"}
    one(db, "select howdah.alter_queue('a', %s)", (Jsonb(options),))
    send(db, "a")
    assert [deliver_and_fail(db, queue) for queue in "ab"] == [(1, "discarded")] * 2
    assert [ids(db, queue) for queue in "ab"] == [[], []]
