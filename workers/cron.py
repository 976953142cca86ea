"""When cron expressions fire: APScheduler's arithmetic behind the five fields of cron(8).

It translates what differs: cron counts days from Sunday as 0, APScheduler from Monday. If both the day of the month and
the day of the week are restricted, cron fires when either matches, APScheduler only when both do.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, cast
from zoneinfo import ZoneInfo

from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
TIMES = 1000
"""Most due times in one plan."""
_INSTANT = timedelta(microseconds=1)


class Cron:
    """One cron expression in its time zone. Raises ValueError for an invalid one, LookupError for an unknown zone."""

    def __init__(self, expression: str, time_zone: str = "UTC") -> None:
        minute, hour, day, month, weekday = expression.lower().split()
        both = not day.startswith("*") and not weekday.startswith("*")
        choices = [(day, "*"), ("*", weekday)] if both else [(day, weekday)]
        self._zone = _zone(time_zone)
        triggers = [
            CronTrigger(
                minute=_steps(minute, 0, 59),
                hour=_steps(hour, 0, 23),
                day=_steps(by_day, 1, 31),
                month=_steps(month, 1, 12),
                day_of_week=_weekdays(by_weekday),
                timezone=self._zone,
            )
            for by_day, by_weekday in choices
        ]
        self._trigger = OrTrigger(triggers) if both else triggers[0]
        #: Named hours come once a day, as in cron(8), even if the clock is put back over them.
        self._named = not hour.startswith("*")
        self._daily = 0

    def first(self, moment: datetime) -> datetime | None:
        """Return the first time at or after a moment; None if there is none, as for the 30th of February.

        It counts in UTC: in a zone whose clock is put back, Python adds and compares what the clock shows.
        """
        moment = moment.astimezone(UTC)
        while (fire_time := self._trigger.get_next_fire_time(None, moment)) is not None:
            found = cast(datetime, fire_time).astimezone(UTC)
            if found >= moment and not (self._named and found.astimezone(self._zone).fold):
                return found
            moment = max(moment, found) + timedelta(minutes=1)
        return None

    def after(self, moment: datetime) -> datetime | None:
        """Return the first time after a moment."""
        return self.first(moment.astimezone(UTC) + _INSTANT)

    def last(self, time: datetime, until: datetime, most: int) -> tuple[int, list[datetime]]:
        """Return how many due times from ``time`` on were skipped, and the last ``most`` times up to ``until``.

        It goes day by day. All days with a due time have equally many, except around a change of the clock.
        """
        days: deque[tuple[datetime, int]] = deque()
        skipped = kept = 0
        following: datetime | None = time
        while following is not None and following <= until:
            day = following.astimezone(self._zone).replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
            offsets = {(day + timedelta(days=number)).utcoffset() for number in (-1, 0, 1)}
            end = (day + timedelta(days=1)).astimezone(UTC)
            usual = bool(days) and end <= until and len(offsets) == 1
            today = self._daily if usual and self._daily else len(self._between(following, min(end - _INSTANT, until)))
            self._daily = today if usual else self._daily
            days.append((following, today))
            kept += today
            while kept - days[0][1] >= most:
                skipped += days[0][1]
                kept -= days.popleft()[1]
            following = self.first(end)
        times = self._between(days[0][0], until)
        return skipped + max(0, kept - most), times[-most:]

    def _between(self, time: datetime, until: datetime) -> list[datetime]:
        times = []
        following: datetime | None = time
        while following is not None and following <= until:
            times.append(following)
            following = self.after(following)
        return times


def _zone(name: str) -> tzinfo:
    """Return a time zone. UTC needs no files. Raises LookupError if the host's files do not have it, or are damaged."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError) as error:
        raise LookupError(str(error)) from error


_cron = lru_cache(maxsize=1000)(Cron)


def plan(due: dict[str, Any]) -> dict[str, Any]:
    """Return the plan for a row of howdah.due_schedules: the due times and the next one.

    Where one message stands for all times, the last ones are enough to know which it is.
    Raises LookupError if this host does not have the time zone. The database has it, so another host may, too.
    """
    # They come in the zone of the database session.
    was, until = None if due["next_at"] is None else due["next_at"].astimezone(UTC), due["now"].astimezone(UTC)
    made: dict[str, Any] = {"schedule_id": due["schedule_id"], "was": None if was is None else was.isoformat()}
    try:
        cron = _cron(due["cron"], due["time_zone"])
        current = cron.first(due["from_at"]) if was is None else was
        missed, times = 0, list[datetime]()
        if current is not None and current <= until and not due["catch_up"]:
            missed, times = cron.last(current, until, TIMES)
            current = cron.after(until)
        while current is not None and current <= until and len(times) < TIMES:
            times.append(current)
            current = cron.after(current)
    except ValueError as error:
        return made | {"error": f"cron {due['cron']} in {due['time_zone']}: {error}"}
    following = None if current is None else current.isoformat()
    return made | {"times": [time.isoformat() for time in times], "missed": missed, "next_at": following}


def _weekdays(field: str) -> str:
    """Return the field as single names: APScheduler counts from Monday and knows no range over the week's end."""
    if field == "*":
        return field
    days: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        low, high = (0, 6) if span == "*" else (_day(first), _day(last or first))
        days.update(number % 7 for number in range(low, high + 1, int(step or 1)))
    return ",".join(DAYS[number] for number in sorted(days))


def _day(word: str) -> int:
    return DAYS.index(word) if word in DAYS else int(word)


def _steps(field: str, low: int, high: int) -> str:
    """Replace steps longer than their range, which APScheduler refuses: they mean the range's first number."""
    return ",".join(_step(part, low, high) for part in field.split(","))


def _step(part: str, low: int, high: int) -> str:
    span, slash, step = part.partition("/")
    first, _, last = (str(low), "", str(high)) if span == "*" else span.partition("-")
    first, last = (str(MONTHS.index(word) + 1) if word in MONTHS else word for word in (first, last))
    return first if slash and int(step) > int(last) - int(first) else part
