"""Cron expressions at random, against a model that tries day after day."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import Db, one, refused

from howdah.workers.cron import DAYS, MONTHS, Cron

NAMES = {3: MONTHS, 4: DAYS}
BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


@st.composite
def fields(draw: st.DrawFn, number: int) -> tuple[str, frozenset[int]]:
    """A field and the numbers that it stands for."""
    low, high = BOUNDS[number]
    if draw(st.integers(0, 3)) == 0:
        step = draw(st.integers(1, 20))
        return ("*" if step == 1 else f"*/{step}"), frozenset(
            range(low, min(high, 6) + 1 if number == 4 else high + 1, step)
        )
    words, meant = [], set()
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(low, high))
        last = draw(st.integers(first, high))
        step = draw(st.integers(1, 5))
        kind = draw(st.sampled_from(["one", "name", "range", "steps"]))
        if kind in ("one", "name") or (number == 4 and last == 7 and step > 1):
            named = kind == "name" and number in NAMES and first != 7
            words.append(NAMES[number][first - low] if named else str(first))
            meant.add(first)
        else:
            words.append(f"{first}-{last}" + (f"/{step}" if kind == "steps" else ""))
            meant |= set(range(first, last + 1, step if kind == "steps" else 1))
    return ",".join(words), frozenset(meant)


def modelled(meant: list[frozenset[int]], words: list[str], moment: datetime) -> datetime | None:
    """The first time at or after the moment, within four years."""
    minutes, hours, days, months, weekdays = meant
    weekdays = frozenset(day % 7 for day in weekdays)

    def matches(day: date) -> bool:
        by_day, by_weekday = day.day in days, day.isoweekday() % 7 in weekdays
        either = not words[2].startswith("*") and not words[4].startswith("*")
        return day.month in months and (by_day or by_weekday if either else by_day and by_weekday)

    for number in range(4 * 366):
        day = moment.date() + timedelta(days=number)
        if matches(day):
            for hour in sorted(hours):
                for minute in sorted(minutes):
                    found = datetime.combine(day, time(hour, minute), UTC)
                    if found >= moment:
                        return found
    return None


@pytest.mark.slow
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    parts=st.tuples(*(fields(number) for number in range(5))),
    moment=st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)),
)
def test_what_the_database_accepts_fires_when_the_model_says(
    db: Db, parts: tuple[tuple[str, frozenset[int]], ...], moment: datetime
) -> None:
    words = [word for word, _ in parts]
    moment = moment.replace(tzinfo=UTC, fold=0)  # nothing comes twice in UTC
    if Cron(" ".join(words)).first(moment) is None:
        refused(db, "HD005", "select howdah._check_cron(%s)", (" ".join(words),))
        return
    one(db, "select howdah._check_cron(%s)", (" ".join(words),))
    expected = modelled([meant for _, meant in parts], words, moment)
    if expected is not None:
        assert Cron(" ".join(words)).first(moment) == expected
