"""A cron expression has the times that cron gives it, in its time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from howdah.workers.cron import Cron, plan

VIENNA = ZoneInfo("Europe/Vienna")


def local(*fields: int, fold: int = 0) -> datetime:
    return datetime(*fields, tzinfo=VIENNA, fold=fold).astimezone(UTC)  # type: ignore[misc,arg-type]


def following(cron: str, moment: datetime, count: int, zone: str = "UTC") -> list[str]:
    """The next times, as local ones."""
    found = []
    for _ in range(count):
        after = Cron(cron, zone).after(moment)
        assert after is not None
        moment = after
        found.append(moment.astimezone(ZoneInfo(zone)).strftime("%a %d %b %H:%M"))
    return found


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("0 * * * *", ["Sun 01 Nov 01:00", "Sun 01 Nov 02:00"]),
        ("*/20 * * * *", ["Sun 01 Nov 00:20", "Sun 01 Nov 00:40"]),
        ("15,45 8-9 * * *", ["Sun 01 Nov 08:15", "Sun 01 Nov 08:45", "Sun 01 Nov 09:15"]),
        ("0 0 * * 0", ["Sun 08 Nov 00:00", "Sun 15 Nov 00:00"]),
        ("0 0 * * 7", ["Sun 08 Nov 00:00"]),
        ("0 0 * * 1-5", ["Mon 02 Nov 00:00", "Tue 03 Nov 00:00"]),
        ("0 0 * * fri-sat", ["Fri 06 Nov 00:00", "Sat 07 Nov 00:00", "Fri 13 Nov 00:00"]),
        ("0 0 * * 5-7", ["Fri 06 Nov 00:00", "Sat 07 Nov 00:00", "Sun 08 Nov 00:00"]),
        ("0 0 13 * 5", ["Fri 06 Nov 00:00", "Fri 13 Nov 00:00", "Fri 20 Nov 00:00"]),
        ("0 0 14 * 5", ["Fri 06 Nov 00:00", "Fri 13 Nov 00:00", "Sat 14 Nov 00:00"]),
        ("0 12 31 * *", ["Thu 31 Dec 12:00", "Sun 31 Jan 12:00", "Wed 31 Mar 12:00"]),
        ("30 6 1 JAN,jul *", ["Fri 01 Jan 06:30", "Thu 01 Jul 06:30"]),
    ],
)
def test_the_five_fields_mean_what_they_mean_in_cron(cron: str, expected: list[str]) -> None:
    assert following(cron, datetime(2026, 11, 1, tzinfo=UTC), len(expected)) == expected


def test_a_named_hour_comes_once_a_day_when_clocks_are_changed_and_each_hour_each_hour() -> None:
    night = local(2026, 3, 28, 12)
    assert following("30 2 * * *", night, 2, "Europe/Vienna") == ["Sun 29 Mar 03:30", "Mon 30 Mar 02:30"]
    night = local(2026, 10, 24, 12)
    assert following("30 2 * * *", night, 2, "Europe/Vienna") == ["Sun 25 Oct 02:30", "Mon 26 Oct 02:30"]
    begin = local(2026, 10, 25, 1)
    hourly = following("0 * * * *", begin, 3, "Europe/Vienna")
    assert hourly == ["Sun 25 Oct 02:00", "Sun 25 Oct 02:00", "Sun 25 Oct 03:00"]


def due(**fields: Any) -> dict[str, Any]:
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    row = {"schedule_id": 1, "cron": "* * * * *", "time_zone": "UTC", "next_at": moment, "from_at": moment}
    return row | {"catch_up": False, "now": moment} | fields


def test_a_plan_has_the_times_that_have_come_and_the_next_one() -> None:
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    made = plan(due(now=moment + timedelta(minutes=2, seconds=1)))
    assert made["times"] == [f"2026-11-01T00:0{minute}:00+00:00" for minute in range(3)]
    assert made["next_at"] == "2026-11-01T00:03:00+00:00"
    assert plan(due(next_at=None, from_at=moment + timedelta(seconds=1)))["next_at"] == "2026-11-01T00:01:00+00:00"
    year = timedelta(days=365)
    once = plan(due(now=moment + year))
    assert len(once["times"]) == 1000
    assert (once["times"][-1], once["missed"]) == ("2027-11-01T00:00:00+00:00", 365 * 24 * 60 + 1 - 1000)
    assert once["next_at"] == "2027-11-01T00:01:00+00:00"
    every = plan(due(now=moment + year, catch_up=True))
    assert (len(every["times"]), every["missed"], every["next_at"]) == (1000, 0, "2026-11-01T16:40:00+00:00")
    assert plan(due(cron="0 0 30 2 *", next_at=None))["next_at"] is None
    assert "0 0 x * *" in plan(due(cron="0 0 x * *"))["error"]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Vienna", "Australia/Lord_Howe", "America/Havana"])
@pytest.mark.parametrize("cron", ["30 23 * * *", "15 0-2 * * *", "50 * * * *", "0 12 1 * *", "0 0 30 4 2"])
def test_what_was_missed_is_counted_as_if_each_time_were_gone_through(cron: str, zone: str) -> None:
    times = Cron(cron, zone)
    begun = times.first(datetime(2026, 1, 3, 5, tzinfo=UTC))
    assert begun is not None
    gone_through = [begun]
    for days, hours in ((0, 0), (0, 1), (1, 0), (80, 7), (90, 0), (300, 3), (400, 0)):
        until = begun + timedelta(days=days, hours=hours)
        while (following := times.after(gone_through[-1])) is not None and following <= until:
            gone_through.append(following)
        for most in (1, 100):
            assert times.last(begun, until, most) == (max(0, len(gone_through) - most), gone_through[-most:])
