"""The policy of poison messages as four systems know it: limits, comparators, delays, what happens at the limit, presets."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb
from support import SYSTEM, Clock, Connect, Db, column, deliver_and_fail, fail, one, receive, refused

DEAD_LETTER = "SYSTEM.DEAD.LETTER.QUEUE"
ADVISORY = "_SYSTEM.Advisory"
CONVERSATION = UUID(int=7)

Create = Callable[..., None]


@pytest.fixture
def create(db: Db) -> Create:
    """Create a queue, q unless told otherwise."""

    def make(name: str = "q", **options: Any) -> None:
        one(db, "select howdah.create_queue(%s, %s)", (name, Jsonb(options)))

    return make


def alter(db: Db, **options: Any) -> None:
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb(options),))


def send(db: Db, queue: str = "q", body: str = "x", **options: Any) -> int:
    names = "".join(f", {name} => %s" for name in options)
    number: int = one(db, f"select howdah.send(%s, %s{names})", (queue, body, *options.values()))
    return number


def ids(db: Db, queue: str, verb: str = "browse") -> list[int]:
    return [message.message_id for message in receive(db, queue, 100, verb)]


def outcomes(db: Db, times: int, queue: str = "q") -> list[str]:
    return [deliver_and_fail(db, queue)[1] for _ in range(times)]


# -- limit and counting -----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("WAS-08")
def test_a_limit_lowered_at_run_time_holds_from_the_next_failure_on(db: Db, create: Create) -> None:
    create()
    send(db)
    assert deliver_and_fail(db) == (1, "returned")
    alter(db, max_failed_deliveries=2)
    assert deliver_and_fail(db) == (2, "moved")


@pytest.mark.behaviour("WAS-14")
@pytest.mark.behaviour("WAS-15")
def test_without_exception_destination_the_engine_waits_five_seconds(db: Db, create: Create, clock: Clock) -> None:
    create(preset="websphere", exception_mode="none")
    sent = send(db)
    assert outcomes(db, 5) == ["returned"] * 4 + ["blocked"]
    assert one(db, "select destination_id = (select id from howdah.destinations where name = 'q') from howdah.parked")
    assert one(db, "select count(*) from howdah.poison_details where message_id = %s", (sent,)) == 5
    clock.advance(4.999)
    assert receive(db) == []
    clock.advance(0.001)
    (sixth,) = receive(db)
    assert (sixth.message_id, sixth.delivery_count) == (sent, 6)


@pytest.mark.behaviour("WAS-16")
@pytest.mark.behaviour("WAS-19")
@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({"override_blocked_retry": False, "blocked_retry_ms": 100}, 5),
        ({"override_blocked_retry": True, "blocked_retry_ms": 100}, 0.1),
        ({"override_blocked_retry": True, "blocked_retry_ms": 10000}, 10),
    ],
)
def test_a_queues_own_retry_interval_needs_the_box_ticked(
    db: Db, create: Create, clock: Clock, options: dict[str, Any], seconds: float
) -> None:
    create(max_failed_deliveries=1, exception_mode="none", **options)
    send(db)
    assert outcomes(db, 1) == ["blocked"]
    clock.advance(seconds - 0.001)
    assert receive(db) == []
    clock.advance(0.001)
    assert len(receive(db)) == 1


@pytest.mark.behaviour("WAS-17")
def test_an_interval_of_minus_one_keeps_the_message_back_for_good(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=1, exception_mode="none", override_blocked_retry=True)
    sent = send(db)
    assert outcomes(db, 1) == ["blocked"]
    clock.advance(3600)
    assert receive(db) == []
    assert one(db, "select howdah.retry('q', %s)", ([sent],)) == 1
    assert [message.message_id for message in receive(db)] == [sent]


@pytest.mark.behaviour("WAS-18")
def test_an_interval_of_zero_redelivers_at_once(db: Db, create: Create, clock: Clock) -> None:
    create(max_failed_deliveries=1, exception_mode="none", blocked_retry_ms=0)
    send(db)
    assert outcomes(db, 10) == ["blocked"] * 10


@pytest.mark.behaviour("WAS-32")
def test_a_rollback_puts_a_message_back_before_those_behind_it(db: Db, create: Create) -> None:
    create(preset="websphere_mq")
    first, second = send(db), send(db)
    assert deliver_and_fail(db) == (1, "returned")
    assert [message.message_id for message in receive(db, n=2)] == [first, second]


@pytest.mark.behaviour("WAS-29")
def test_a_threshold_of_zero_never_moves(db: Db, create: Create) -> None:
    create(preset="websphere_mq")
    send(db)
    assert outcomes(db, 50) == ["returned"] * 50
    assert len(receive(db)) == 1


@pytest.mark.behaviour("WAS-30")
@pytest.mark.behaviour("WAS-31")
def test_ibm_mq_compares_when_it_meets_the_message_again(db: Db, create: Create) -> None:
    create(preset="websphere_mq", max_failed_deliveries=1)
    sent = send(db)
    assert outcomes(db, 1) == ["returned"]
    assert ids(db, "q") == [sent], "it lies where it was until it is met again"
    assert receive(db) == []
    assert ids(db, DEAD_LETTER) == [sent]


@pytest.mark.behaviour("AMQ-109")
@pytest.mark.behaviour("AMQ-89")
def test_activemq_delivers_one_time_and_six_more(db: Db, create: Create, clock: Clock) -> None:
    create(preset="activemq")
    sent = send(db)
    done = []
    for _ in range(7):
        done.append(deliver_and_fail(db))
        clock.advance(1)
    assert done == [(number, "delayed") for number in range(1, 7)] + [(7, "moved")]
    (dead,) = receive(db, "ActiveMQ.DLQ", 1, "browse")
    assert (dead.message_id, dead.headers) == (
        sent,
        {"dlqDeliveryFailureCause": "failed deliveries reached the limit"},
    )


@pytest.mark.behaviour("AMQ-115")
def test_activemqs_limit_of_three_is_four_deliveries(db: Db, create: Create, clock: Clock) -> None:
    create("never", preset="activemq", max_failed_deliveries=0)
    sent = send(db, "never")
    assert deliver_and_fail(db, "never") == (1, "moved"), "no redelivery at all"
    assert sent in ids(db, "ActiveMQ.DLQ")
    create(preset="activemq", max_failed_deliveries=3, redelivery_delay_ms=0, initial_redelivery_delay_ms=0)
    send(db)
    assert outcomes(db, 4) == ["returned"] * 3 + ["moved"]


@pytest.mark.behaviour("SSB-19")
def test_service_broker_counts_by_conversation_and_goes_beyond_the_threshold(db: Db, create: Create) -> None:
    create(preset="service_broker", poison_handling=False)
    first, second, other = (send(db, conversation_id=UUID(int=n)) for n in (7, 7, 8))
    for message_id in (first, second, first, second, first):
        fail(db, message_id)
    with db.transaction(force_rollback=True):
        got = receive(db, n=9)
        assert [(m.message_id, m.delivery_count) for m in got] == [(first, 6), (second, 6), (other, 1)]
    fail(db, second)
    assert ids(db, "q", "receive") == [other], "six failures of the conversation are more than five"


@pytest.mark.behaviour("SSB-25")
def test_incidents_of_a_conversation_can_be_cleaned_when_it_is_over(db: Db, create: Create) -> None:
    create(count_by="conversation", max_failed_deliveries=2, clean_incidents=True)
    query = "select count(*) from howdah.poison_details where conversation_id = %s"
    send(db, conversation_id=CONVERSATION)
    assert outcomes(db, 1) == ["returned"]
    assert one(db, query, (CONVERSATION,)) == 1
    assert outcomes(db, 1) == ["moved"]
    send(db, conversation_id=CONVERSATION)
    assert deliver_and_fail(db)[1] == "returned", "it begins at nothing again"


# -- delays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "delays"),
    [
        ({}, [1000, 1000, 1000]),
        ({"initial_redelivery_delay_ms": 200}, [200, 1000, 1000]),
        ({"use_exponential_backoff": True}, [1000, 5000, 25000, 125000]),
        ({"use_exponential_backoff": True, "backoff_multiplier": 2, "max_redelivery_delay_ms": 3000}, [1000, 2000, 3000, 3000]),
        ({"use_exponential_backoff": True, "max_redelivery_delay_ms": 500, "initial_redelivery_delay_ms": 200}, [200, 1000, 1000]),
        ({"use_exponential_backoff": True, "initial_redelivery_delay_ms": 0, "redelivery_delay_ms": 10}, [0, 10, 50, 250]),
    ],
)  # fmt: skip
def test_delays_follow_activemqs_formula(
    db: Db, create: Create, clock: Clock, options: dict[str, Any], delays: list[int]
) -> None:
    create(**{"preset": "activemq"} | options)
    send(db)
    for delay in delays:
        assert deliver_and_fail(db)[1] == ("delayed" if delay else "returned")
        if delay:
            due = one(db, "select due_at from howdah.parked")
            assert due - clock.now == timedelta(milliseconds=delay)
            clock.set(due)


def test_collision_avoidance_spreads_delays_both_ways_within_its_factor(db: Db, create: Create, clock: Clock) -> None:
    create(preset="activemq", use_collision_avoidance=True)
    seen = [
        one(db, "select extract(epoch from howdah._delay(d, 1, null)) from howdah.destinations d where name = 'q'")
        for _ in range(60)
    ]
    assert min(seen) < 1 < max(seen)
    assert all(0.85 <= delay <= 1.15 for delay in seen)


# -- at the limit -----------------------------------------------------------------------------------------------------


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
    create(**limit)
    send(db, body="ab")
    send(db, body="cd")
    refused(db, "HD018", "select howdah.send('q', 'ef')")
    refused(db, "HD018", "select howdah.send_batch('q', array['g'])")
    assert len(receive(db)) == 1
    send(db, body="ef")


@pytest.mark.behaviour("WAS-42")
@pytest.mark.behaviour("WAS-43")
@pytest.mark.behaviour("WAS-44")
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
    assert one(db, "select howdah.revoke_queue('BACKOUT', 'send', 'howdah_consumer')")
    assert not one(db, "select howdah.revoke_queue('BACKOUT', 'send', 'howdah_consumer')"), "a second call"
    sent = send(db)
    fail(consumer, sent)
    assert receive(consumer) == []
    (dead,) = receive(db, DEAD_LETTER, 1, "browse")
    assert dead.message_id == sent
    assert "NOT_AUTHORIZED" in str(dead.dead_reason)


def test_rights_are_granted_by_administrators_only_and_must_exist(db: Db, create: Create, connect: Connect) -> None:
    create()
    refused(db, "HD005", "select howdah.grant_queue('q', 'fly', 'howdah_consumer')")
    refused(db, "HD005", "select howdah.grant_queue('q', 'send', 'no such role')")
    refused(connect("howdah_consumer"), "42501", "select howdah.grant_queue('q', 'send', 'howdah_consumer')")
    rights = db.execute("select verb, role from howdah.list_grants('q')").fetchall()
    assert ("receive", "howdah_consumer") in rights


@pytest.mark.behaviour("AMQ-110")
def test_activemqs_dead_letters_say_what_they_were(db: Db, create: Create, clock: Clock) -> None:
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


@pytest.mark.behaviour("AMQ-114")
def test_of_policies_by_wildcard_the_most_specific_one_holds(db: Db, create: Create) -> None:
    create("A.B.C")
    policies = {">": 11, "A.>": 12, "A.*": 13, "A.B": 14, "*.B.>": 15}
    for pattern, limit in policies.items():
        one(db, "select howdah.set_policy(%s, %s)", (pattern, Jsonb({"max_failed_deliveries": limit})))
    for name in ("A.B", "A.C", "A.C.D", "B", "X.B.Y"):
        create(name)
    limits: dict[str, int] = dict(
        db.execute("select queue, max_failed_deliveries from howdah.list_queues()").fetchall()
    )
    del limits[SYSTEM]
    assert limits == {"A.B": 14, "A.C": 13, "A.C.D": 12, "B": 11, "X.B.Y": 15, "A.B.C": 12}
    one(db, "select howdah.create_queue('A.own', '{\"max_failed_deliveries\": 3}')")
    assert one(db, "select howdah.queue_options('A.own') ->> 'max_failed_deliveries'") == "3"
    assert one(db, "select howdah.drop_policy('A.B')")
    assert not one(db, "select howdah.drop_policy('A.B')")
    refused(db, "HD003", "select howdah.set_policy('A.>.B', '{}')")
    refused(db, "HD004", "select howdah.set_policy('A', '{\"no\": 1}')")


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


# -- order and stopping -----------------------------------------------------------------------------------------------


@pytest.mark.behaviour("WAS-34")
def test_in_strict_order_a_message_that_waits_or_is_in_hand_holds_up_those_behind(
    db: Db, create: Create, connect: Connect, clock: Clock
) -> None:
    create(strict_order=True, max_failed_deliveries=1, exception_mode="none")
    first, second = send(db), send(db)
    other = connect()
    with other.transaction(force_rollback=True):
        assert [message.message_id for message in receive(other)] == [first]
        assert receive(db) == [], "the first is in other hands"
    assert outcomes(db, 1) == ["blocked"]
    assert receive(db) == [], "the first waits for its retry"
    clock.advance(5)
    with db.transaction():
        assert [message.message_id for message in receive(db, n=2)] == [first, second]


def test_elsewhere_others_pass_a_blocked_message_by(db: Db, create: Create) -> None:
    create(max_failed_deliveries=1, exception_mode="none")
    send(db)
    second = send(db)
    assert outcomes(db, 1) == ["blocked"]
    assert ids(db, "q", "receive") == [second]


@pytest.mark.behaviour("SSB-03")
@pytest.mark.behaviour("SSB-04")
@pytest.mark.behaviour("SSB-05")
@pytest.mark.behaviour("SSB-06")
def test_five_failures_in_a_row_disable_the_queue_for_everybody(db: Db, create: Create, connect: Connect) -> None:
    create(preset="service_broker")
    first = send(db)
    listening = connect()
    listening.execute("listen howdah_events")
    assert outcomes(db, 4) == ["returned"] * 4
    healthy = send(db)
    assert len(receive(db, n=1)) == 1
    send(db)
    for _ in range(4):
        fail(db, healthy)
    assert one(db, "select count(*) from howdah.browse('q')") == 2, "a success between them, so it goes on"
    fail(db, healthy)
    for role in (None, "howdah_consumer"):
        refused(connect(role), "HD016", "select howdah.receive('q')")
    events = [notification.payload for notification in listening.notifies(timeout=1, stop_after=1)]
    assert one(db, "select %s::jsonb - 'at'", (events[0],)) == {
        "event": "QUEUE_DISABLED",
        "queue": "q",
        "message_id": healthy,
    }
    (advisory,) = receive(db, ADVISORY)
    assert advisory.message_type == "QUEUE_DISABLED"
    one(db, "select howdah.resume('q')")
    assert first not in ids(db, "q")
    fail(db, healthy)
    assert len(receive(db)) == 1, "failures in a row count from the resumption"


@pytest.mark.behaviour("SSB-07")
@pytest.mark.behaviour("SSB-08")
@pytest.mark.behaviour("SSB-09")
def test_poison_handling_can_be_switched_off_at_run_time(db: Db, create: Create) -> None:
    create(preset="service_broker", max_failed_deliveries=-1)
    assert one(db, "select howdah.queue_options('q') ->> 'poison_handling'") == "true"
    send(db)
    outcomes(db, 4)
    alter(db, poison_handling=False)
    outcomes(db, 46)
    assert len(receive(db)) == 1


@pytest.mark.behaviour("SSB-24")
@pytest.mark.parametrize("readers", [8, 32])
def test_readers_return_a_poison_message_at_least_as_often_as_the_threshold_says(
    db: Db, create: Create, connect: Connect, readers: int
) -> None:
    create(preset="service_broker", poison_handling=False)
    sent = send(db, conversation_id=CONVERSATION)

    def read(connection: Db) -> int:
        calls, idle = 0, 0
        while idle < 20:
            connection.execute("begin")
            got = receive(connection)
            connection.execute("rollback" if got else "commit")
            if got:
                calls += 1
                fail(connection, sent)
            idle = idle + 1 if not got else 0
        return calls

    connections = [connect() for _ in range(readers)]
    with ThreadPoolExecutor(readers) as threads:
        attempts = sum(threads.map(read, connections))
    assert 6 <= attempts <= 6 + readers
    assert ids(db, "q") == []
    assert one(db, "select count(*) from howdah.ended_conversations") == 1


# -- three kinds of count ---------------------------------------------------------------------------------------------


@pytest.mark.behaviour("WAS-45")
def test_a_volatile_count_is_readable_while_the_server_runs(db: Db, create: Create) -> None:
    create(backout_count="volatile")
    send(db)
    outcomes(db, 2)
    assert [message.delivery_count for message in receive(db)] == [3]


def begin(db: Db, queue: str = "q") -> list[tuple[UUID, int]]:
    return [tuple(row) for row in db.execute("select attempt, message_id from howdah.begin_attempts(%s)", (queue,))]


def test_a_hardened_queue_counts_consumers_that_only_roll_back(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened", max_failed_deliveries=3)
    sent = send(db)
    refused(db, "HD019", "select howdah.receive('q')")
    refused(db, "HD019", "select howdah.receive_locked('q')")
    counts = []
    for _ in range(3):
        ((attempt, message_id),) = begin(db)
        assert message_id == sent
        with db.transaction(force_rollback=True):
            query = "select delivery_count from howdah.receive_attempt('q', %s)"
            counts += column(db, query, (attempt,))
        clock.advance(1.1)
    assert counts == [1, 2, 3]
    assert begin(db) == []
    assert ids(db, SYSTEM) == [sent]


def test_an_attempt_and_its_incident_are_one_failure(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened", max_failed_deliveries=2)
    sent = send(db)
    ((attempt, _),) = begin(db)
    assert fail(db, sent, failure_key=attempt)[1:] == (1, "returned")
    ((attempt, _),) = begin(db)
    assert fail(db, sent, failure_key=attempt)[1:] == (2, "moved")


def test_an_attempt_must_be_committed_and_ends_with_its_message(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened")
    send(db)
    with db.transaction():
        ((attempt, _),) = begin(db)
        refused(db, "HD022", "select howdah.receive_attempt('q', %s)", (attempt,))
    clock.advance(1.1)
    ((attempt, _),) = begin(db)
    assert receive_attempt(db, attempt) == 1
    refused(db, "HD022", "select howdah.receive_attempt('q', %s)", (attempt,))
    refused(db, "HD022", "select howdah.receive_attempt('q', %s)", (uuid4(),))
    assert one(db, "select consumed from howdah.queue_stats('q')") == 1


def test_two_sessions_begin_attempts_at_different_messages(db: Db, create: Create, connect: Connect) -> None:
    create(backout_count="hardened")
    first, second = send(db), send(db)
    assert [message_id for _, message_id in begin(db)] == [first]
    assert [message_id for _, message_id in begin(connect())] == [second]


@pytest.mark.parametrize("number", [None, 0, 10001])
def test_attempts_begin_at_one_to_ten_thousand_messages(db: Db, create: Create, number: int | None) -> None:
    create(backout_count="hardened")
    send(db)
    begin(db)
    refused(db, "HD005", "select howdah.begin_attempts('q', %s)", (number,))


def test_a_message_at_its_last_attempt_is_not_taken_from_who_has_begun_it(
    db: Db, create: Create, connect: Connect
) -> None:
    create(backout_count="hardened", max_failed_deliveries=1)
    sent = send(db)
    ((attempt, message_id),) = begin(db)
    assert begin(connect()) == []
    assert message_id == sent
    assert receive_attempt(db, attempt) == 1


def test_sessions_that_race_for_messages_see_no_failure_where_there_is_none(
    db: Db, create: Create, connect: Connect
) -> None:
    create(backout_count="hardened", max_failed_deliveries=2)
    one(db, "select howdah.send_batch('q', array_fill('x'::text, array[200]))")

    def consume(session: Db) -> list[int]:
        counts = []
        while attempts := begin(session):
            for attempt, _ in attempts:
                found = session.execute("select delivery_count from howdah.receive_attempt('q', %s)", (attempt,))
                counts += [count for (count,) in found]
        return counts

    with ThreadPoolExecutor() as pool:
        counts = [count for done in pool.map(consume, [connect() for _ in range(4)]) for count in done]
    assert counts == [1] * 200


def receive_attempt(db: Db, attempt: UUID) -> int:
    return len(db.execute("select from howdah.receive_attempt('q', %s)", (attempt,)).fetchall())


def test_attempts_are_forgotten_once_their_messages_are_gone(db: Db, create: Create, clock: Clock) -> None:
    create(backout_count="hardened")
    purged, handled, kept = send(db), send(db), send(db)
    assert [message_id for _, message_id in begin(db)] == [purged]
    ((attempt, _),) = begin(db)
    assert receive_attempt(db, attempt) == 1
    assert handled not in column(db, "select message_id from howdah.attempts"), "it went with its message"
    assert [message_id for _, message_id in begin(db)] == [kept]
    assert one(db, "select howdah.discard('q', %s)", ([purged],)) == 1
    assert one(db, "select howdah.maintain_attempts()") == 0, "they are young"
    clock.advance(61)
    assert one(db, "select howdah.maintain_attempts()") == 1
    assert column(db, "select message_id from howdah.attempts") == [kept]
    refused(db, "HD005", "select howdah.maintain_attempts(null, 0)")


def test_the_table_of_presets_in_the_documentation_is_what_the_database_says(db: Db) -> None:
    text = (Path(__file__).parents[2] / "docs" / "poison.md").read_text(encoding="utf-8")
    table = text.split("<!-- presets -->\n")[1].split("<!-- end -->")[0].splitlines()[2:]
    presets = db.execute("select * from howdah.presets()").fetchall()
    rows = [[name, *("none" if value is None else str(value) for value in values)] for name, *values in presets]
    shown = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table]
    assert shown == [[cell.replace("True", "true").replace("False", "false") for cell in row] for row in rows]
