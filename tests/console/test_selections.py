"""Acts on several things: those chosen, and all of a queue or topic, in batches that say how far they are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from console_forms import go_on, submit
from starlette.testclient import TestClient
from support import Connect, Db, column, one

from howdah.console import things

WHY = "to try (operator@example.org)"


def schedules(db: Db, *names: str) -> list[str]:
    """New schedules of the queue orders: their numbers."""
    make = "select howdah.schedule('orders', 'x'::text, period => '1 hour', name => %s)"
    return [str(one(db, make, (name,))) for name in names]


def active(db: Db) -> list[str]:
    """Names of the schedules that are left."""
    names: list[str] = column(db, "select name from howdah.list_schedules('orders') where state = 'active' order by 1")
    return names


def subscribed(db: Db, *names: str) -> list[str]:
    """New subscriptions of the topic news, which has one message for them: their full names."""
    one(db, "select howdah.create_topic('news', '{\"retain_ms\": 3600000}')")
    for name in names:
        one(db, "select howdah.subscribe('news', %s)", (name,))
    one(db, "select howdah.send('news', 'x')")
    return [f"news::{name}" for name in names]


def test_chosen_schedules_are_cancelled_when_their_number_is_written(client: TestClient, db: Db, orders: int) -> None:
    numbers = schedules(db, "daily", "hourly", "weekly")
    page = client.get("/schedules").text
    assert [f'name="target" value="{number}"' in page for number in numbers] == [True] * 3
    assert "All of" not in page
    form = client.get("/act", params={"act": "cancel-schedule", "target": numbers[:2]}).text
    assert "It deals with 2 schedules: daily, hourly." in form
    assert "Write how many they are, 2" in form
    given: dict[str, Any] = {"act": "cancel-schedule", "target": numbers[:2], "reason": "to try"}
    assert "not written as it is" in submit(client, typed="3", **given)
    assert active(db) == ["daily", "hourly", "weekly"]
    assert "2 done." in submit(client, typed="2", **given)
    assert active(db) == ["weekly"]
    assert column(db, "select reason from howdah.list_acts() order by act_id") == [
        f"schedule {name}: {WHY}" for name in ("daily", "hourly")
    ]


def test_all_schedules_of_a_queue_are_paused_in_batches_with_progress_and_can_be_stopped(
    client: TestClient, db: Db, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(things, "BATCH", 2)
    schedules(db, *"abcde")
    one(db, "select howdah.create_queue('other')")
    one(db, "select howdah.schedule('other', 'x'::text, period => '1 hour')")
    place = re.findall(r'href="(/act[^"]*all=yes)"', client.get("/schedules?queue=orders").text)[0]
    form = client.get(place.replace("&amp;", "&")).text
    assert "all schedules of orders, 5 schedules: a, b, c, d, e." in form
    page = submit(client, act="pause-schedule", queue="orders", all="yes", reason="to try")
    assert "So far: 2 done. That is 2 of 5." in page
    assert '<progress aria-label="Progress" value="2" max="5">' in page
    assert active(db) == ["c", "d", "e"], "who stops here leaves these"
    page, batches = go_on(client, page)
    assert ("5 done." in page, batches) == (True, 2)
    assert active(db) == []
    assert one(db, "select state from howdah.list_schedules('other')") == "active"


def test_all_schedules_of_a_queue_are_cancelled_when_its_name_is_written(
    client: TestClient, db: Db, orders: int
) -> None:
    schedules(db, "a", "b")
    given = {"act": "cancel-schedule", "queue": "orders", "all": "yes", "reason": "to try"}
    assert "the queue&#39;s name was not written as it is" in submit(client, typed="2", **given)
    assert "2 done." in submit(client, typed="orders", **given)
    assert active(db) == []
    assert "say whose schedules" in submit(client, act="pause-schedule", all="yes", reason="r")


def test_one_schedule_is_cancelled_when_its_own_name_is_written(client: TestClient, db: Db, orders: int) -> None:
    ((hourly,), (number,)) = (
        schedules(db, "hourly"),
        [str(one(db, "select howdah.schedule('orders', 'x'::text, period => '1 hour')"))],
    )
    for target, wrong, name in ((hourly, hourly, "hourly"), (number, "orders", number)):
        assert f"Write the schedule&#39;s name, {name}" in client.get(f"/act?act=cancel-schedule&target={target}").text
        given = {"act": "cancel-schedule", "target": target, "reason": "r"}
        assert "not written as it is" in submit(client, typed=wrong, **given)
        assert "1 done." in submit(client, typed=name, **given)
    assert column(db, "select name from howdah.list_schedules()") == []


def test_consumers_are_ended_chosen_or_all_of_a_queue(
    client: TestClient, db: Db, connect: Connect, orders: int
) -> None:
    session = connect("howdah_consumer")
    numbers = [str(one(session, "select howdah.open_consumer('orders')")) for _ in range(4)]
    left = "select consumer::text from howdah.list_consumers('orders') order by 1"
    assert 'name="target"' in client.get("/consumers?queue=orders").text
    submit(client, act="end-consumer", target=numbers[0], typed="other", reason="to try")
    assert column(db, left) == numbers
    submit(client, act="end-consumer", target=numbers[:2], typed="2", reason="to try")
    assert column(db, left) == numbers[2:]
    assert "2 done." in submit(client, act="end-consumer", queue="orders", all="yes", typed="orders", reason="to try")
    assert column(db, left) == []
    made = column(db, "select reason from howdah.list_acts() where act = 'ended' order by act_id")
    assert made == [f"consumer {number} of howdah_consumer: {WHY}" for number in numbers]


def test_a_subscription_skips_messages_only_when_its_name_is_written(client: TestClient, db: Db) -> None:
    (name,) = subscribed(db, "reader")
    given = {"act": "seek", "target": name, "since": "2100-01-01T00:00:00Z", "reason": "to try"}
    said = submit(client, **given)
    assert "news::reader has not read 1 messages from before that time: it would skip them." in said
    assert "Nobody can undo this. Write the subscription&#39;s name, news::reader" in said
    for field, value in (("since", "2100-01-01T00:00:00Z"), ("reason", "to try"), ("target", name)):
        assert f'name="{field}" value="{value}"' in said
    assert "it would skip them" in submit(client, typed="reader", **given)
    assert column(db, "select act from howdah.list_acts()") == []
    assert "1 done." in submit(client, typed=name, **given)
    assert column(db, "select body from howdah.receive('news::reader')") == []
    back = {**given, "since": "2020-01-01T00:00:00Z"}
    assert "1 done." in submit(client, **back), "backwards nothing is lost"
    assert column(db, "select body from howdah.receive('news::reader')") == ["x"]


def test_all_subscriptions_of_a_topic_are_sought_and_one_that_is_being_read_is_left_with_the_reason(
    client: TestClient, db: Db, connect: Connect
) -> None:
    subscribed(db, "a", "b", "c")
    assert "All of <bdi>news</bdi>" in client.get("/subscriptions?topic=news").text
    reader = connect()
    with reader.transaction():
        assert column(reader, "select body from howdah.receive('news::b')") == ["x"]
        given = {"act": "seek", "queue": "news", "all": "yes", "since": "2100-01-01T00:00:00Z", "reason": "to try"}
        assert "Write the topic&#39;s name, news" in submit(client, **given)
        said = submit(client, typed="news", **given)
    assert "2 done. 1 left alone: " in said
    assert "news::b" in said
    assert column(db, "select queue_name from howdah.list_acts() order by 1") == ["news::a", "news::c"]


def test_chosen_links_are_paused(client: TestClient, db: Db, orders: int) -> None:
    for name in ("a", "b", "c"):
        one(db, "select howdah.create_link(%s, 'orders', 'there', service => 'other')", (name,))
    assert 'name="target" value="a"' in client.get("/links").text
    assert "2 done." in submit(client, act="pause-link", target=["a", "c"], reason="to try")
    assert column(db, "select name from howdah.list_links() where state = 'paused' order by 1") == ["a", "c"]


def test_who_only_browses_chooses_nothing(client: TestClient, db: Db, orders: int) -> None:
    schedules(db, "a")
    page = client.get("/schedules?queue=orders", headers={"x-test-person": "browser"}).text
    assert "<bdi>a</bdi>" in page
    assert "checkbox" not in page
    assert "All of" not in page


def test_progress_of_more_than_could_be_counted_has_no_value_and_goes_on(
    client: TestClient, db: Db, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(things, "BATCH", 1)
    schedules(db, "a", "b", "c")
    page = submit(client, act="pause-schedule", queue="orders", all="yes", reason="to try", total="")
    assert '<progress aria-label="Progress"></progress> So far: 1 done.' in page
    page = submit(client, act="resume-schedule", queue="orders", all="yes", reason="to try", total="1")
    page = submit(client, act="pause-schedule", queue="orders", all="yes", reason="to try", total="1")
    assert 'value="1" max="1"' in page
    assert "3 done" in go_on(client, page)[0], "more came than were counted"


def test_chosen_queues_are_paused_and_resumed_and_one_that_is_not_there_is_left(
    client: TestClient, db: Db, orders: int
) -> None:
    for name in ("a", "b"):
        one(db, "select howdah.create_queue(%s)", (name,))
    page = client.get("/queues").text
    assert re.findall('name="target" value="([ab])"', page) == ["a", "b"]
    assert re.findall('name="act" value="(\\w+)"', page) == ["pause", "resume"]
    assert "checkbox" not in client.get("/queues", headers={"x-test-person": "browser"}).text
    said = submit(client, act="pause", target=["a", "b", "none"], reason="to try")
    assert "2 done. 1 left alone: there is no queue" in said
    paused = "select queue from howdah.list_queues() where receiving_paused order by 1"
    assert column(db, paused) == ["a", "b"]
    assert "2 done." in submit(client, act="resume", target=["a", "b"], reason="to try")
    assert column(db, paused) == []
    made = db.execute("select act, queue_name, reason from howdah.list_acts() order by act_id").fetchall()
    assert made == [(act, name, WHY) for act in ("paused", "resumed") for name in ("a", "b")]
