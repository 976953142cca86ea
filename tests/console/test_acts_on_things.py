"""Acts on what is no message: each in the operator's own name, and none for who only browses."""

from __future__ import annotations

import pytest
from console_forms import submit
from starlette.testclient import TestClient
from support import Connect, Db, column, deliver_and_fail, one

WHY = "to try (operator@example.org)"
"""The reason as it is recorded: the database knows the role, and the reason names the person."""


NAMED = {"cancel-schedule": "hourly", "end-consumer": ""}
"""What is asked for before an act; empty: the number."""
SCHEDULED = ("paused", "resumed", "fired", "cancelled")


def done(client: TestClient, act: str, target: object = "", **fields: str) -> None:
    """The browser is refused, and the operator is not."""
    given = {"act": act, "target": str(target), "reason": "to try", **fields}
    given |= {} if act not in NAMED else {"typed": NAMED[act] or str(target)}
    refusal = submit(client, "browser", **given)
    assert "1 done" not in refusal
    assert "<h1>Not done</h1>" in refusal, refusal
    assert "1 done" in submit(client, **given)


def acts(db: Db) -> list[tuple[object, ...]]:
    """Who did what and why, the last one first."""
    return db.execute("select actor, act, queue_name, reason from howdah.list_acts()").fetchall()


def changes(db: Db, kind: str) -> list[tuple[object, ...]]:
    """Who changed what and why, the first one first."""
    listed = "select actor, act, reason from howdah.list_changes(%s) where reason is not null order by change_id"
    return db.execute(listed.encode(), (kind,)).fetchall()


def test_a_subscription_is_sought(client: TestClient, db: Db) -> None:
    one(db, "select howdah.create_topic('news', '{\"retain_ms\": 3600000}')")
    one(db, "select howdah.subscribe('news', 'reader')")
    one(db, "select howdah.send('news', 'read')")
    assert column(db, "select body from howdah.receive('news::reader')") == ["read"]
    done(client, "seek", "news::reader", since="2020-01-01T00:00:00+00:00")
    assert column(db, "select body from howdah.receive('news::reader')") == ["read"]
    ((actor, act, queue, reason),) = acts(db)
    assert (actor, act, queue) == ("console_operator", "sought", "news::reader")
    assert str(reason).endswith(f": {WHY}")


def test_a_schedule_is_paused_resumed_fired_and_cancelled(client: TestClient, db: Db, orders: int) -> None:
    number = one(db, "select howdah.schedule('orders', 'tick', period => '1 hour', name => 'hourly')")
    page = client.get("/schedules").text
    for act in ("pause", "resume", "fire", "cancel"):
        assert f"act={act}-schedule&amp;target={number}" in page
    for act in ("pause", "resume", "cancel"):
        if act == "cancel":
            done(client, "fire-schedule", number)
            assert one(db, "select fired from howdah.list_schedules('orders')") == 1
        done(client, f"{act}-schedule", number)
    assert column(db, "select body from howdah.browse('orders')") == ['{"item": 7}', "tick"]
    assert column(db, "select state from howdah.list_schedules('orders', true)") == ["cancelled"]
    made = [("console_operator", act, "orders", f"schedule hourly: {WHY}") for act in SCHEDULED]
    assert acts(db) == made[::-1]
    changed = [("console_operator", act, WHY) for act in ("altered", "altered", "dropped")]
    assert changes(db, "schedule") == changed


def test_a_link_is_paused_and_resumed(client: TestClient, db: Db, orders: int) -> None:
    one(db, "select howdah.create_link('away', 'orders', 'there', service => 'other')")
    for act, paused in (("pause-link", True), ("resume-link", False)):
        done(client, act, "away")
        assert one(db, "select paused from howdah.links") is paused
    assert acts(db) == [("console_operator", act, "orders", f"link away: {WHY}") for act in ("resumed", "paused")]
    assert changes(db, "link") == [("console_operator", "altered", WHY)] * 2


def test_a_consumer_is_ended(client: TestClient, db: Db, connect: Connect, orders: int) -> None:
    number = one(connect("howdah_consumer"), "select howdah.open_consumer('orders')")
    done(client, "end-consumer", number)
    assert column(db, "select consumer from howdah.list_consumers('orders')") == []
    ended = f"consumer {number} of howdah_consumer: {WHY}"
    assert acts(db) == [("console_operator", "ended", "orders", ended)]


def test_who_ends_their_own_consumer_from_the_console_is_on_record(client: TestClient, db: Db, orders: int) -> None:
    with db.transaction():
        db.execute("set local role console_operator")
        number = one(db, "select howdah.open_consumer('orders')")
    assert "1 done" in submit(client, act="end-consumer", target=str(number), typed=str(number), reason="to try")
    assert acts(db) == [("console_operator", "ended", "orders", f"consumer {number} of console_operator: {WHY}")]


def test_who_closes_their_own_consumer_is_not_on_record(db: Db, connect: Connect, orders: int) -> None:
    session = connect("howdah_consumer")
    assert one(session, "select howdah.close_consumer(howdah.open_consumer('orders'))")
    assert acts(db) == []


def test_a_dead_message_is_edited_and_replayed(client: TestClient, db: Db, orders: int) -> None:
    deliver_and_fail(db, "orders")
    queue = one(db, "select exception_queue from howdah.list_poison()")
    form = client.get("/act", params={"act": "edit", "queue": queue, "id": str(orders)}).text
    assert "{&#34;item&#34;: 7}" in form
    done(client, "edit", queue=str(queue), id=str(orders), body='{"item": 8}')
    assert column(db, "select body from howdah.browse('orders')") == ['{"item": 8}']
    assert acts(db) == [("console_operator", "edited", queue, WHY)]


@pytest.mark.parametrize(
    ("act", "target"),
    [
        *(("seek", "none"), ("fire-schedule", "x"), ("fire-schedule", "0"), ("fire-schedule", "9" * 30)),
        ("pause-link", "none"),
    ],
)
def test_what_is_not_there_is_said_to_be_none(client: TestClient, db: Db, act: str, target: str) -> None:
    said = submit(client, act=act, target=target, reason="r", since="2020-01-01T00:00:00Z")
    assert "<h1>Not done</h1>" in said
    assert acts(db) == []
