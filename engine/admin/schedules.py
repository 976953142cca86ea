# Written by tools/make_sync.py from engine/aio/admin/schedules.py: change that, and run make sync.
"""Schedules: what is sent by the clock. Names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, Unpack, cast

from ..calls import Call, Rows, scalar, table
from ..calls.bodies import Body, to_json
from ..calls.options import NamedScheduleOptions
from ..calls.schedules import COLUMNS, DELAYED_COLUMNS, schedule
from ..calls.verbs import Verbs

T = TypeVar("T")


class Schedules(Verbs):
    """The verbs of scheduling over anything that runs a call, each in a transaction of its own."""

    def run(self, call: Call[T]) -> T:
        """Run a call of ``schedule`` that was made before."""
        return self._run(call)

    def add(self, queue: str, body: Body, **options: Unpack[NamedScheduleOptions]) -> int:
        """Send a message by the clock; options as of ``schedule``. Returns the schedule's number."""
        return self._run(schedule(queue, body, **options))

    def list(self, queue: str | None = None, *, all_states: bool = False) -> Rows:
        """The schedules of a queue or topic, or all; with all_states also those that ended or were cancelled."""
        arguments: dict[str, tuple[str, Any]] = {"queue": ("text", queue), "all_states": ("boolean", all_states)}
        return self._run(table("list_schedules", COLUMNS, **arguments))

    def cancel(self, schedule_id: int) -> None:
        """Let it fire no more. Raises NoSuchSchedule."""
        self._run(scalar("cancel_schedule", schedule_id=("bigint", schedule_id)))

    def cancel_all(self, queue: str, since: datetime | None = None, until: datetime | None = None) -> int:
        """Cancel one's own schedules of a queue whose next firing lies in that time; returns how many."""
        call = scalar(
            "cancel_schedules",
            queue=("text", queue),
            next_from=("timestamptz", since),
            next_until=("timestamptz", until),
        )
        return self._run(call.then(int))

    def pause(self, schedule_id: int) -> bool:
        """Let it fire no more until it is resumed; returns whether it was active."""
        return self._run(scalar("pause_schedule", schedule_id=("bigint", schedule_id)).then(bool))

    def resume(self, schedule_id: int) -> bool:
        """Let it fire again, from its next time on; returns whether it was paused or had failed."""
        return self._run(scalar("resume_schedule", schedule_id=("bigint", schedule_id)).then(bool))

    def delayed(self, queue: str, max_messages: int = 100) -> Rows:
        """Messages that wait for their time, sent with a delay or put back after a failure; the next one first."""
        arguments: dict[str, tuple[str, Any]] = {"queue": ("text", queue), "max_messages": ("integer", max_messages)}
        return self._run(table("list_delayed", DELAYED_COLUMNS, **arguments))

    def cancel_delayed(self, queue: str, message_ids: Sequence[int]) -> int:
        """Discard delayed messages that are not due yet, all or none. Returns how many. Raises NoSuchMessage."""
        arguments: dict[str, tuple[str, Any]] = {
            "queue": ("text", queue),
            "message_ids": ("bigint[]", [*message_ids]),
        }
        return self._run(scalar("cancel_delayed", **arguments).then(int))

    def due(self, max_schedules: int = 1000) -> Rows:
        """The cron schedules that are due, for a scheduler to plan."""
        columns = "schedule_id, cron, time_zone, next_at, from_at, catch_up, now"
        return self._run(table("due_schedules", columns, max_schedules=("integer", max_schedules)))

    def fire(self, plans: Sequence[Mapping[str, Any]] = ()) -> tuple[int, int, float | None]:
        """Fire what is due: how many, how many cron schedules want a plan, and seconds until the next firing."""
        call = table("fire_schedules", "fired, unplanned, next_in", plans=("jsonb", to_json([dict(p) for p in plans])))
        (row,) = self._run(call)
        return row["fired"], row["unplanned"], row["next_in"]

    def wake_due(self, since: datetime | None) -> tuple[int, float | None, datetime]:
        """Wake who waits for queues with a message that has become due: how many, seconds until the next, and now."""
        call = Call(
            "select woken, next_in, now from howdah.wake_due(%s::timestamptz)",
            (since,),
            lambda rows: cast(tuple[int, float | None, datetime], rows[0]),
        )
        return self._run(call)
