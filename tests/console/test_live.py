"""Live figures: one poller for all viewers, each of whom sees what they may browse, for as long as they may."""

from __future__ import annotations

import asyncio
import json

from support import Db

from howdah.console.database import Database
from howdah.console.history import Samples
from howdah.console.live import Poller, Stream
from howdah.console.people import Person


def figures(event: str) -> dict[str, object]:
    """The data of an event."""
    kind, _, data = event.partition("\ndata: ")
    assert kind == "event: figures"
    found: dict[str, object] = json.loads(data)
    return found


async def never_gone() -> bool:
    """A viewer who stays."""
    return False


def test_all_viewers_share_one_poller_which_stops_when_the_last_has_gone(login_dsn: str, db: Db, orders: int) -> None:
    database = Database(login_dsn)
    poller = Poller(database, Person("poller", role="console_browser"), Samples(), 0.05)
    viewer = Person("viewer", role="console_browser")

    async def watch() -> None:
        streams = [Stream(poller, database, lambda: viewer).events(never_gone) for _ in range(8)]
        first = await asyncio.gather(*(anext(stream) for stream in streams))
        assert {figures(event)["totals"]["live"] for event in first} == {1}  # type: ignore[index]
        assert poller.looks < 8
        for stream in streams:
            await stream.aclose()
        looks = poller.looks
        assert poller._task is None
        assert poller.looks == looks

    asyncio.run(watch())


def test_a_stream_ends_when_its_viewer_may_see_no_more(login_dsn: str, db: Db, orders: int) -> None:
    database = Database(login_dsn)
    poller = Poller(database, Person("poller", role="console_browser"), Samples(), 0.02)
    allowed = True

    def person() -> Person:
        return Person("viewer", role="console_browser" if allowed else "console_nobody")

    async def watch() -> list[str]:
        nonlocal allowed
        events = []
        async for event in Stream(poller, database, person, recheck=0.01).events(never_gone):
            events.append(event)
            allowed = False
        return events

    events = asyncio.run(watch())
    assert events[-1].startswith("event: ended")
    assert figures(events[0])["totals"]["live"] == 1  # type: ignore[index]


def test_curves_show_what_went_in_of_queues_that_the_viewer_sees() -> None:
    now = 0.0
    samples = Samples(lambda: now)
    for count in (0, 10, 30):
        samples.add([{"queue_name": name, "enqueued": count, "dequeued": 0} for name in ("seen", "hidden")])
        now += 10
    curves = samples.curves({"seen"})
    assert curves is not None
    assert [line["last"] for line in curves["lines"]] == ["2.0", "0.0"]
    assert Samples().curves({"seen"}) is None
