"""Live figures: one poller for all viewers, each of whom sees what they may browse, for as long as they may."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from support import Db, one

from howdah.console import Host, app, live
from howdah.console.database import Database, Work
from howdah.console.live import MOST_QUEUES, Poller, Stream, Views, told
from howdah.console.people import Person
from howdah.engine.calls import Call

VIEWER = Person("viewer", role="console_browser")
POLLER = Person("poller", role="console_browser")


def figures(event: str) -> dict[str, Any]:
    """The data of an event."""
    kind, _, data = event.partition("\ndata: ")
    assert kind == "event: figures"
    found: dict[str, Any] = json.loads(data)
    return found


def names(event: str) -> list[str]:
    """The queues that an event tells of."""
    return [row["queue_name"] for row in figures(event)["queues"]]


async def never_gone() -> bool:
    """A viewer who stays."""
    return False


@pytest.fixture
def database(login_dsn: str) -> Iterator[Database]:
    """The console's database."""
    made = Database(login_dsn)
    yield made
    made.close()


@pytest.fixture
def counted(db: Db, orders: int) -> None:
    """A message that maintenance has counted."""
    one(db, "select howdah.maintain_backlog()")


def rule(db: Db, queue: str, operation: str, *, allow: bool) -> None:
    """What the viewer may do at a queue."""
    one(
        db,
        "select howdah.set_rule('default', 'queue', %s, %s, %s, 'user', '{console_browser}')",
        (queue, operation, allow),
    )


def stream(database: Database, poller: Poller, *queues: str, person: Callable[[], Person] = lambda: VIEWER) -> Any:
    """The events of a viewer."""
    return Stream(poller, Views(database, 0.01), person, tuple(queues)).events(never_gone)


def test_all_viewers_share_one_poller_which_stops_when_the_last_has_gone(database: Database, counted: None) -> None:
    poller = Poller(database, POLLER, 0.05)
    views = Views(database)

    async def watch() -> None:
        streams = [Stream(poller, views, lambda: VIEWER).events(never_gone) for _ in range(8)]
        first = await asyncio.gather(*(anext(stream) for stream in streams))
        assert {figures(event)["totals"]["live"] for event in first} == {1}
        assert poller.looks < 8
        assert views.checks == 1, "the rights of one person on one page are read once"
        for stream in streams:
            await stream.aclose()
        assert poller._task is None

    asyncio.run(watch())


def test_a_stream_ends_when_its_viewer_may_see_no_more(database: Database, counted: None) -> None:
    poller = Poller(database, POLLER, 0.02)
    allowed = True

    def person() -> Person:
        return VIEWER if allowed else Person("viewer", role="console_nobody")

    async def watch() -> list[str]:
        nonlocal allowed
        events = []
        async for event in stream(database, poller, person=person):
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
        async for event in stream(database, poller):
            if not events:
                db.execute("revoke howdah_browser from console_browser")
            events.append(event)
        return events

    try:
        assert asyncio.run(watch())[-1].startswith("event: ended")
    finally:
        db.execute("grant howdah_browser to console_browser")


def test_a_look_is_one_statement_and_reads_kept_figures_whatever_their_age(
    database: Database, counted: None, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    one(db, "update howdah.backlog_counts set counted_at = counted_at - interval '1 hour' returning 1")
    one(db, "select howdah.send('orders', 'not counted yet'::text)")
    calls: list[str] = []
    run = Work.run

    def noted(work: Work, call: Call[Any]) -> Any:
        calls.append(call.sql)
        return run(work, call)

    monkeypatch.setattr(Work, "run", noted)
    poller = Poller(database, POLLER, 0.02)

    async def watch() -> str:
        async with poller.watched(("orders",)):
            look = await poller.next()
        return told(look, look, ("orders",))

    found = json.loads(asyncio.run(watch()))
    assert len(calls) == poller.looks
    assert all("queue_figures" in call for call in calls)
    assert found["totals"]["live"] == found["queues"][0]["live"] == 1
    assert found["totals"]["oldest_age"] == found["queues"][0]["oldest_age"]
    assert 3590 < found["age"] < 4000


def test_an_event_says_that_nobody_has_counted(database: Database, orders: int) -> None:
    async def watch() -> str:
        event: str = await anext(stream(database, Poller(database, POLLER, 0.02), "orders"))
        return event

    found = figures(asyncio.run(watch()))
    assert found["age"] is None
    assert found["counted_at"] is None
    assert found["totals"]["live"] is None


@pytest.mark.slow
def test_the_poller_reads_the_busiest_queues_and_those_that_a_page_shows(
    database: Database, counted: None, db: Db
) -> None:
    one(db, "select count(howdah.create_queue('q' || n)) from generate_series(100, 299) n")
    one(db, "select howdah.maintain_backlog()")
    poller = Poller(database, POLLER, 0.02)

    async def watch() -> tuple[str, str]:
        page = stream(database, poller, "q299", "no such queue")
        others = stream(database, poller)
        found = await anext(page), await anext(others)
        await page.aclose()
        await others.aclose()
        return found

    page, others = asyncio.run(watch())
    assert names(page) == ["q299"]
    assert len(names(others)) == MOST_QUEUES
    assert names(others)[0] == "orders"


def test_the_poller_connects_anew_after_its_connection_was_ended(database: Database, counted: None, db: Db) -> None:
    poller = Poller(database, POLLER, 0.02)

    async def watch() -> None:
        async with poller.watched():
            await poller.next()
            ended = one(
                db,
                "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                " where application_name = 'howdah console' and datname = current_database()",
            )
            assert ended == 1, "one connection serves every look"
            await poller.next()
            await poller.next()

    asyncio.run(watch())


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
        events = stream(database, poller, "hidden", "orders"), stream(database, poller)
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


@pytest.mark.first_case
@pytest.mark.parametrize("viewer", ["browser", "restricted"])
def test_a_stream_of_the_busiest_queues_tells_of_one_that_became_busy_later(
    database: Database, counted: None, db: Db, viewer: str
) -> None:
    for name in ("quiet", "zebra", "hidden"):
        one(db, "select howdah.create_queue(%s)", (name,))
    if viewer == "restricted":
        for operation in ("produce", "consume", "browse"):
            rule(db, "*", operation, allow=False)
        for name in ("quiet", "zebra", "orders"):
            rule(db, name, "browse", allow=True)
    one(db, "select howdah.maintain_backlog()")
    poller = Poller(database, Person("poller", role="console_operator"), 0.02)

    async def watch() -> tuple[str, str]:
        events = Stream(poller, Views(database, 0.01), lambda: VIEWER, (), 2).events(never_gone)
        while len(names(first := await anext(events))) < 2:
            pass
        one(db, "select howdah.send_batch('zebra', array_fill('x'::text, array[50]))")
        one(db, "select howdah.send_batch('hidden', array_fill('x'::text, array[20]))")
        one(db, "select howdah.maintain_backlog()")
        while names(event := await anext(events))[0] != "zebra":
            pass
        await events.aclose()
        return first, event

    first, event = asyncio.run(watch())
    assert "zebra" not in names(first)
    assert names(event) == ["zebra", "hidden" if viewer == "browser" else "orders"]
    assert not poller._named


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
        events = stream(database, poller)
        while not names(event := await anext(events)):
            pass
        await events.aclose()
        return str(event)

    assert names(asyncio.run(watch())) == ["orders"]
