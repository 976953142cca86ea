"""Who listens on howdah_events hears of dead messages and stopped listeners, if their queue tells of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from policy_support import ADVISORY, CONVERSATION, Create, alter, outcomes, send
from psycopg.types.json import Jsonb
from support import Connect, Db, fail, one, receive, refused
from topics_support import publish, subscribe, topic


@pytest.fixture
def ear(connect: Connect) -> Db:
    """A session that listens; any role may."""
    listening = connect("howdah_browser")
    listening.execute("listen howdah_events")
    return listening


def heard(ear: Db) -> list[dict[str, Any]]:
    """What was told since the last time, without its time."""
    ear.execute("select 1")
    told = [json.loads(notification.payload) for notification in ear.notifies(timeout=0)]
    assert all(event.pop("at") for event in told)
    return told


def dead(queue: str, message_id: int, outcome: str) -> dict[str, Any]:
    return {"event": "MESSAGE_DEAD", "queue": queue, "message_id": message_id, "outcome": outcome}


def test_a_message_dies_in_silence_unless_its_queue_tells(db: Db, create: Create, ear: Db) -> None:
    create(max_failed_deliveries=1, notify_admin=True)
    create("other", max_failed_deliveries=1, notify_events=True)
    first, second = send(db), send(db, "other")
    assert outcomes(db, 1) == outcomes(db, 1, "other") == ["moved"]
    assert heard(ear) == [dead("other", second, "moved")]
    alter(db, notify_events=True)
    third = send(db)
    assert outcomes(db, 1) == ["moved"]
    assert heard(ear) == [dead("q", third, "moved")]
    alter(db, notify_events=False)
    send(db)
    assert outcomes(db, 1) == ["moved"]
    assert heard(ear) == []
    assert first < third


def test_telling_by_notify_makes_no_advisory(db: Db, create: Create) -> None:
    create(max_failed_deliveries=1, notify_events=True)
    refused(db, "HD001", "select howdah.receive(%s)", (ADVISORY,))


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ({"at_limit": "discard"}, "discarded"),
        ({"at_limit": "quarantine"}, "quarantined"),
        ({"at_limit": "end_conversation"}, "ended"),
        ({"exception_mode": "none"}, "blocked"),
    ],
)
def test_the_event_says_what_became_of_the_message(
    db: Db, create: Create, ear: Db, options: dict[str, str], outcome: str
) -> None:
    create(max_failed_deliveries=1, notify_events=True, **options)
    sent = send(db, conversation_id=CONVERSATION)
    assert outcomes(db, 1) == [outcome]
    assert heard(ear) == [dead("q", sent, outcome)]


def test_a_receive_that_meets_a_message_at_its_limit_tells_with_its_commit_only(
    db: Db, create: Create, ear: Db
) -> None:
    create(max_failed_deliveries=1, decided_at="receive", notify_events=True)
    sent = send(db)
    assert outcomes(db, 1) == ["returned"]
    with db.transaction(force_rollback=True):
        assert receive(db) == []
    assert heard(ear) == []
    assert receive(db) == []
    assert heard(ear) == [dead("q", sent, "moved")]
    assert receive(db) == []
    assert heard(ear) == [], "it dies once"


def test_a_transaction_that_told_cannot_be_prepared_and_one_of_a_silent_queue_can(db: Db, create: Create) -> None:
    if one(db, "select current_setting('max_prepared_transactions')::integer") == 0:
        pytest.skip("the server allows no prepared transactions")
    create(max_failed_deliveries=1, decided_at="receive", notify_events=True)
    send(db)
    outcomes(db, 1)
    with db.transaction(force_rollback=True):
        assert receive(db) == []
        refused(db, "0A000", "prepare transaction 'told'")
    alter(db, notify_events=False)
    db.execute("begin")
    assert receive(db) == []
    db.execute("prepare transaction 'silent'")
    db.execute("commit prepared 'silent'")


def test_a_payload_holds_the_longest_names_and_no_text_of_errors(db: Db, create: Create, ear: Db) -> None:
    name = "q" * 242
    create(name, max_failed_deliveries=1, notify_events=True)
    sent = send(db, name)
    assert fail(db, sent, name, error_text="secret " * 10_000)[2] == "moved"
    assert heard(ear) == [dead(name, sent, "moved")]


def test_a_subscription_tells_of_its_own_dead_messages(db: Db, ear: Db) -> None:
    topic(db)
    loud, quiet = (subscribe(db, name, options={"max_failed_deliveries": 1}) for name in ("loud", "quiet"))
    one(db, "select howdah.alter_queue(%s, %s)", (loud, Jsonb({"notify_events": True})))
    (sent,) = publish(db, "x")
    for name in (loud, quiet):
        assert outcomes(db, 1, name) == ["moved"]
    assert heard(ear) == [dead(loud, sent, "moved")]


def test_a_listener_that_failures_stop_is_told_of_once(db: Db, create: Create, ear: Db) -> None:
    create(notify_events=True)
    for name in ("l", "m"):
        one(db, "select howdah.create_listener(%s, 'q', %s)", (name, Jsonb({"sequential_failures": 2})))
    first, second = send(db), send(db)
    for message in (first, second, first):
        one(db, "select listener_status from howdah.record_failures_as('l', %s)", (Jsonb([{"message_id": message}]),))
    stopped = {"event": "LISTENER_STOPPED", "queue": "q", "listener": "l", "message_id": second}
    assert heard(ear) == [stopped]
    one(db, "select howdah.resume_listener('l')")
    alter(db, notify_events=False)
    one(db, "select listener_status from howdah.record_failures_as('l', %s)", (Jsonb([{"message_id": first}]),))
    assert one(db, "select status from howdah.list_listeners('l')") == "stopped"
    assert heard(ear) == []
