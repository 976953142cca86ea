"""Live figures: each viewer sees what they may browse, for as long as they may."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from live_support import POLLER, VIEWER, figures, names, never_gone, rule, stream_of
from starlette.requests import Request
from starlette.testclient import TestClient
from support import Db, one

from howdah.console import Host, app, live
from howdah.console.database import Database
from howdah.console.live import Poller, Stream, Views
from howdah.console.people import Person


def test_a_stream_ends_when_its_viewer_may_see_no_more(database: Database, counted: None) -> None:
    poller = Poller(database, POLLER, 0.02)
    allowed = True

    def person() -> Person:
        return VIEWER if allowed else Person("viewer", role="console_nobody")

    async def watch() -> list[str]:
        nonlocal allowed
        events = []
        async for event in stream_of(database, poller, person=person):
            events.append(event)
            allowed = False
        return events

    events = asyncio.run(watch())
    assert events[-1].startswith("event: ended")
    assert figures(events[0])["totals"]["live"] == 1


def test_a_stream_ends_when_the_role_of_its_viewer_loses_the_right_to_look(
    database: Database, counted: None, db: Db
) -> None:
    poller = Poller(database, Person("poller", role="console_operator"), 0.02)

    async def watch() -> list[str]:
        events: list[str] = []
        async for event in stream_of(database, poller):
            if not events:
                db.execute("revoke howdah_browser from console_browser")
            events.append(event)
        return events

    try:
        assert asyncio.run(watch())[-1].startswith("event: ended")
    finally:
        db.execute("grant howdah_browser to console_browser")


def test_a_viewer_sees_only_the_queues_that_the_rules_allow_and_no_longer_than_they_do(
    database: Database, counted: None, db: Db
) -> None:
    one(db, "select howdah.create_queue('hidden')")
    one(db, "select howdah.send_batch('hidden', array['a', 'b', 'c'])")
    one(db, "select howdah.maintain_backlog()")
    for operation in ("produce", "consume", "browse"):
        rule(db, "*", operation, allow=False)
    rule(db, "orders", "browse", allow=True)
    poller = Poller(database, Person("poller", role="console_operator"), 0.02)

    async def watch() -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
        events = stream_of(database, poller, "hidden", "orders"), stream_of(database, poller)
        allowed = [figures(await anext(event)) for event in events]
        rule(db, "orders", "browse", allow=False)
        while (denied := figures(await anext(events[0])))["queues"]:
            pass
        everything = Stream(poller, Views(database), lambda: Person("operator", role="console_operator"))
        all_of_it = figures(await anext(everything.events(never_gone)))
        for event in events:
            await event.aclose()
        return allowed, denied, all_of_it

    allowed, denied, everything = asyncio.run(watch())
    for event in allowed:
        assert [row["queue_name"] for row in event["queues"]] == ["orders"]
        assert event["totals"]["live"] == 1
    assert denied["totals"]["live"] in (0, None)
    assert everything["totals"]["live"] == 4


def test_an_application_says_who_looks_in_a_thread_at_every_event_of_a_stream(login_dsn: str, counted: None) -> None:
    beside_a_loop: list[bool] = []

    def who(request: Request) -> Person | None:
        beside_a_loop.append(asyncio._get_running_loop() is None)
        return VIEWER if len(beside_a_loop) < 4 else None

    console = app(login_dsn, Host(who), live_role="console_browser", live_seconds=0.02)
    with TestClient(console) as browser:
        events = browser.get("/live").text
    assert events.count("event: figures") == 2
    assert events.endswith("event: ended\ndata: {}\n\n")
    assert beside_a_loop == [True] * 4


def test_a_viewer_whose_busiest_queues_are_not_the_busiest_of_all_is_told_of_them(
    database: Database, counted: None, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MOST_QUEUES", 1)
    one(db, "select howdah.create_queue('hidden')")
    one(db, "select howdah.send_batch('hidden', array_fill('x'::text, array[50]))")
    one(db, "select howdah.maintain_backlog()")
    for operation in ("produce", "consume", "browse"):
        rule(db, "*", operation, allow=False)
    rule(db, "orders", "browse", allow=True)
    poller = Poller(database, Person("poller", role="console_operator"), 0.02)

    async def watch() -> str:
        events = stream_of(database, poller)
        while not names(event := await anext(events)):
            pass
        await events.aclose()
        return str(event)

    assert names(asyncio.run(watch())) == ["orders"]
