"""Live figures: one poller for all viewers, who are told of the busiest queues."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from live_support import POLLER, VIEWER, figures, names, never_gone, rule, stream_of
from support import Db, one

from howdah.console.database import Database, Work
from howdah.console.live import MOST_QUEUES, Poller, Stream, Views, told
from howdah.console.people import Person
from howdah.engine.calls import Call


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
        event: str = await anext(stream_of(database, Poller(database, POLLER, 0.02), "orders"))
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
        page = stream_of(database, poller, "q299", "no such queue")
        others = stream_of(database, poller)
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
