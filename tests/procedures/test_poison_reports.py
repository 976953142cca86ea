"""Logs, administrators and senders are told of a message at its limit."""

from __future__ import annotations

import pytest
from policy_support import (
    ADVISORY,
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
    Db,
    deliver_and_fail,
    one,
    receive,
)


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


def test_two_log_queues_of_each_other_get_one_copy(db: Db, create: Create) -> None:
    create("a")
    create("b", log_queue="a", max_failed_deliveries=1, at_limit="discard")
    options = {"log_queue": "b", "max_failed_deliveries": 1, "at_limit": "discard"}
    one(db, "select howdah.alter_queue('a', %s)", (Jsonb(options),))
    send(db, "a")
    assert [deliver_and_fail(db, queue) for queue in "ab"] == [(1, "discarded")] * 2
    assert [ids(db, queue) for queue in "ab"] == [[], []]
