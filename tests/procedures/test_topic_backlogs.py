"""A subscription too far behind is warned of and dropped, or publishers are refused, as its topic says."""

import json
from typing import Any

import pytest
from support import Clock, Connect, Db, column, one, receive, refused
from topics_support import bodies, maintain, publish, subscribe, topic


def advisories(db: Db) -> list[tuple[str, Any]]:
    return [(m.message_type or "", json.loads(m.body or "")) for m in receive(db, "_SYSTEM.Advisory", 99)]


@pytest.mark.first_case
@pytest.mark.parametrize("prioritized", [False, True])
def test_a_backlog_past_its_limit_is_dropped_after_a_warning(db: Db, prioritized: bool) -> None:
    topic(db, backlog_limit=10)
    name = subscribe(db, options={"prioritized": prioritized})
    quick = subscribe(db, "quick")
    sent = []
    for number in range(8):
        sent += publish(db, "x", priority=number)
    assert maintain(db) == f"warned of {name}; warned of {quick}"
    assert [
        (kind, body["queue"], body["behind"], body["action"]) for kind, body in advisories(db) if body["queue"] == name
    ] == [("SUBSCRIPTION_BEHIND", name, 8, "drop_backlog")]
    assert maintain(db) == ""
    assert len(bodies(db, quick)) == 8
    sent += publish(db, "x", "x", "x")
    assert maintain(db) == f"dropped the backlog of {name}"
    assert [(kind, body["behind"]) for kind, body in advisories(db)] == [("BACKLOG_DROPPED", 11)]
    assert (
        column(
            db,
            "select message_id from howdah.audit_journal where queue = %s and event = 'discarded' order by 1",
            (name,),
        )
        == sent
    )
    publish(db, "new")
    assert bodies(db, name) == ["new"]
    assert len(bodies(db, quick)) == 4
    maintain(db)
    publish(db, *["x"] * 9)
    bodies(db, quick)
    assert maintain(db) == f"warned of {name}"


def test_a_subscription_too_far_behind_in_time_is_dropped(db: Db, clock: Clock) -> None:
    topic(db, backlog_age_ms=60_000, backlog_action="drop_subscription")
    name = subscribe(db)
    publish(db, "x")
    clock.advance(50)
    assert maintain(db) == f"warned of {name}"
    clock.advance(20)
    assert maintain(db) == f"dropped {name}"
    refused(db, "HD001", "select howdah.receive(%s)", (name,))
    assert [kind for kind, _ in advisories(db)] == ["SUBSCRIPTION_BEHIND", "SUBSCRIPTION_DROPPED"]
    assert maintain(db) == ""


@pytest.mark.first_case
@pytest.mark.parametrize("ending", ["catches up", "unsubscribes", "option"])
def test_publishers_are_refused_while_a_subscription_is_too_far_behind(db: Db, connect: Connect, ending: str) -> None:
    topic(db, backlog_limit=2, backlog_action="refuse")
    name = subscribe(db)
    publish(db, "a", "b", "c")
    maintain(db)
    assert maintain(db) == "refused publishers to t"
    said = refused(db, "HD018", "select howdah.send('t', 'x')")
    assert name in (said.message_hint or "")
    refused(connect("howdah_producer"), "HD018", "select howdah.send_batch('t', array['x'])")
    assert one(db, "select refused_for from howdah.list_topics()") == name
    if ending == "catches up":
        assert bodies(db, name) == ["a", "b", "c"]
        maintain(db)
    elif ending == "unsubscribes":
        one(db, "select howdah.unsubscribe(%s)", (name,))
    else:
        one(db, """select howdah.alter_topic('t', '{"backlog_action": "drop_backlog"}')""")
    assert publish(db, "x")
    assert one(db, "select refused_for from howdah.list_topics()") is None


def test_a_subscription_being_read_is_not_dropped_under_its_reader(db: Db, connect: Connect) -> None:
    topic(db, backlog_limit=1)
    name = subscribe(db)
    publish(db, "a", "b", "c")
    maintain(db)
    reader = connect()
    with reader.transaction():
        assert bodies(reader, name, 1) == ["a"]
        assert maintain(db) == ""
        assert bodies(reader, name, 1) == ["b"]
    assert bodies(db, name) == ["c"]
