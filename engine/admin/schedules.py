# Written by tools/make_sync.py from engine/aio/admin/schedules.py: change that, and run make sync.
"""Schedules, which send by the clock: names and argument types of the procedures, nothing else."""

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
    """The verbs of scheduling over anything that runs a call, each in its own transaction."""

    def run(self, call: Call[T]) -> T:
        """Run a prepared call of ``schedule``."""
        return self._run(call)

    def add(self, queue: str, body: Body, **options: Unpack[NamedScheduleOptions]) -> int:
        """Schedule a message. Options as in ``schedule``. Returns the schedule's number."""
        return self._run(schedule(queue, body, **options))

    def list(self, queue: str | None = None, *, all_states: bool = False) -> Rows:
        """Return the schedules of a queue or topic, or all. all_states: also ended and cancelled ones."""
        arguments: dict[str, tuple[str, Any]] = {"queue": ("text", queue), "all_states": ("boolean", all_states)}
        return self._run(table("list_schedules", COLUMNS, **arguments))

    def cancel(self, schedule_id: int) -> None:
        """Cancel a schedule for good. Raises NoSuchSchedule."""
        self._run(scalar("cancel_schedule", schedule_id=("bigint", schedule_id)))

    def cancel_all(self, queue: str, since: datetime | None = None, until: datetime | None = None) -> int:
        """Cancel the caller's schedules of a queue that fire next in that time. Returns how many."""
        call = scalar(
            "cancel_schedules",
            queue=("text", queue),
            next_from=("timestamptz", since),
            next_until=("timestamptz", until),
        )
        return self._run(call.then(int))

    def pause(self, schedule_id: int) -> bool:
        """Pause a schedule until it is resumed. Returns whether it was active."""
        return self._run(scalar("pause_schedule", schedule_id=("bigint", schedule_id)).then(bool))

    def resume(self, schedule_id: int) -> bool:
        """Resume a schedule from its next time on. Returns whether it was paused or had failed."""
        return self._run(scalar("resume_schedule", schedule_id=("bigint", schedule_id)).then(bool))

    def fire_now(self, schedule_id: int, reason: str | None = None) -> int | None:
        """Make one firing now, beside the planned ones. Returns the message's id; None: it began a series."""
        arguments: dict[str, tuple[str, Any]] = {"schedule_id": ("bigint", schedule_id), "reason": ("text", reason)}
        return cast("int | None", self._run(scalar("fire_schedule", **arguments)))

    def delayed(self, queue: str, max_messages: int = 100) -> Rows:
        """Return messages that wait for their time, delayed or put back after a failure, the next one first."""
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
        """Return the due cron schedules, for a scheduler to plan."""
        columns = "schedule_id, cron, time_zone, next_at, from_at, catch_up, now"
        return self._run(table("due_schedules", columns, max_schedules=("integer", max_schedules)))

    def fire(self, plans: Sequence[Mapping[str, Any]] = ()) -> tuple[int, int, float | None]:
        """Fire what is due. Returns how many, how many cron schedules need a plan, and seconds to the next firing."""
        call = table("fire_schedules", "fired, unplanned, next_in", plans=("jsonb", to_json([dict(p) for p in plans])))
        (row,) = self._run(call)
        return row["fired"], row["unplanned"], row["next_in"]

    def wake_due(self, since: datetime | None) -> tuple[int, float | None, datetime]:
        """Wake receivers of queues with newly due messages. Returns how many, seconds until the next, and now."""
        call = Call(
            "select woken, next_in, now from howdah.wake_due(%s::timestamptz)",
            (since,),
            lambda rows: cast(tuple[int, float | None, datetime], rows[0]),
        )
        return self._run(call)
