"""What an operator does with failed messages: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack, cast

from ...calls import Call, Rows, Seconds, interval, scalar, table
from ...calls.bodies import Body, encode, json_text, to_json
from ...calls.columns import ACT_COLUMNS, CAUSE_COLUMNS, INCIDENT_COLUMNS, POISON_COLUMNS, POISON_QUEUE_COLUMNS
from ...calls.poison import Found, Which, chosen, filters, find, numbers
from .search import AsyncSearch


class AsyncPoisonAdmin(AsyncSearch):
    """An operator's verbs over anything that runs a call."""

    async def now(self) -> datetime:
        """Return howdah.now(), the clock that messages' ages are measured by."""
        clock: Call[datetime] = scalar("now")
        return await self._run(clock)

    async def incidents(
        self,
        queue: str | None = None,
        message_id: int | None = None,
        max_incidents: int = 100,
        *,
        error_class: str | None = None,
        fingerprint: str | None = None,
        older_than: datetime | None = None,
        newer_than: datetime | None = None,
        before: int | None = None,
    ) -> Rows:
        """Return recorded failures, newest first. before: the last incident_id of the previous page."""
        return await self._run(
            table(
                "incidents",
                INCIDENT_COLUMNS,
                queue=("text", queue),
                message_id=("bigint", message_id),
                max_incidents=("integer", max_incidents),
                only_class=("text", error_class),
                only_fingerprint=("text", fingerprint),
                older_than=("timestamptz", older_than),
                newer_than=("timestamptz", newer_than),
                before_incident=("bigint", before),
            )
        )

    async def list_poison(
        self, queue: str | None = None, *, max_rows: int = 100, after: int | None = None, **which: Unpack[Which]
    ) -> Rows:
        """Return dead messages of an exception destination, by default the engine's. after: the last position shown."""
        page = {"queue": ("text", queue), "max_rows": ("integer", max_rows), "after": ("bigint", after)}
        return await self._run(table("list_poison", POISON_COLUMNS, **page, **filters(which)))

    async def list_poison_queues(
        self, fingerprint: str | None = None, origin: str | None = None, *, max_dead: int | None = None
    ) -> Rows:
        """Return in which exception destinations dead messages lie, by their cause.

        fingerprint: of this cause alone. origin: that died in this queue. max_dead: how many dead messages to look at.
        """
        arguments = {
            "fingerprint": ("text", fingerprint),
            "origin": ("text", origin),
            "max_dead": ("integer", max_dead),
        }
        return await self._run(table("list_poison_queues", POISON_QUEUE_COLUMNS, **arguments))

    async def poison_causes(
        self,
        queue: str | None = None,
        *,
        since: datetime | None = None,
        max_causes: int | None = None,
        max_failures: int | None = None,
    ) -> Rows:
        """Return why deliveries fail: the latest failures grouped by cause, the most frequent first.

        max_failures: how many failures to look at. Each row says in ``complete`` whether these were all.
        """
        arguments = {
            "queue": ("text", queue),
            "since": ("timestamptz", since),
            "max_causes": ("integer", max_causes),
            "max_failures": ("integer", max_failures),
        }
        return await self._run(table("poison_causes", CAUSE_COLUMNS, **arguments))

    async def poison_message(self, message_id: int, queue: str | None = None) -> Found | None:
        """Return one message in any queue, or None if it is gone."""
        return await self._run(find(message_id, queue))

    async def list_acts(self, queue: str | None = None, message_id: int | None = None, max_acts: int = 100) -> Rows:
        """Return what operators did, and who it was, newest first."""
        arguments = {"queue": ("text", queue), "message_id": ("bigint", message_id), "max_acts": ("integer", max_acts)}
        return await self._run(table("list_acts", ACT_COLUMNS, **arguments))

    async def replay(
        self,
        queue: str,
        message_ids: Sequence[int] | None = None,
        *,
        target: str | None = None,
        max_messages: int | None = None,
        reason: str | None = None,
        dry_run: bool = False,
        **which: Unpack[Which],
    ) -> int:
        """Replay dead messages to their origin or to ``target``. Returns how many.

        Those named, or all, or those that ``list_poison`` shows with the same filters. ``dry_run``: only says how many.
        """
        arguments = chosen(queue, message_ids, which, reason, max_messages, dry_run)
        return await self._run(scalar("replay", target=("text", target), **arguments).then(int))

    async def send_by_hand(
        self,
        queue: str,
        body: str,
        *,
        headers: Mapping[str, Any] | None = None,
        priority: int | None = None,
        delay: Seconds | None = None,
        content_type: str | None = None,
        message_type: str | None = None,
        correlation_id: str | None = None,
        message_group: str | None = None,
        time_to_live: Seconds | None = None,
        reply_to: str | None = None,
        reason: str | None = None,
    ) -> int | None:
        """Send one message as a person; who sent it and why is an act. Returns its number."""
        arguments: dict[str, tuple[str, Any]] = {
            "queue": ("text", queue),
            "body": ("text", body),
            "headers": ("jsonb", None if headers is None else to_json(headers)),
            "priority": ("integer", priority),
            "delay": ("interval", interval("delay", delay)),
            "content_type": ("text", content_type),
            "reason": ("text", reason),
            "message_type": ("text", message_type),
            "correlation_id": ("text", correlation_id),
            "message_group": ("text", message_group),
            "time_to_live": ("interval", interval("time_to_live", time_to_live)),
            "reply_to": ("text", reply_to),
        }
        return cast("int | None", await self._run(scalar("send_by_hand", **arguments)))

    async def replay_edited(
        self,
        queue: str,
        message_id: int,
        *,
        body: Body | None = None,
        headers: Mapping[str, Any] | None = None,
        content_type: str | None = None,
        target: str | None = None,
        discard: bool = False,
        reason: str | None = None,
    ) -> int:
        """Send a corrected copy of a message. Returns its number. What is not given stays as in the original."""
        kind, value, needed = ("text", None, None) if body is None else encode(body)
        arguments: dict[str, tuple[str, Any]] = {
            "queue": ("text", queue),
            "message_id": ("bigint", message_id),
            "body": ("text", None if kind == "bytea" else json_text(body) if kind == "jsonb" else value),
            "bytes": ("bytea", value if kind == "bytea" else None),
            "headers": ("jsonb", None if headers is None else to_json(headers)),
            "content_type": ("text", content_type or needed),
            "target": ("text", target),
            "discard": ("boolean", discard),
            "reason": ("text", reason),
        }
        return await self._run(scalar("replay_edited", **arguments).then(int))

    async def move_messages(
        self,
        queue: str,
        message_ids: Sequence[int] | None,
        target: str,
        reason: str | None = None,
        *,
        max_messages: int | None = None,
        dry_run: bool = False,
        **which: Unpack[Which],
    ) -> int:
        """Move messages to another queue. They keep the name of their origin. Returns how many.

        Moves all named messages or none; or those that ``list_poison`` shows with the same filters.
        ``dry_run``: only return how many.
        """
        arguments = chosen(queue, message_ids, which, reason, max_messages, dry_run)
        return await self._run(scalar("move_messages", target=("text", target), **arguments).then(int))

    async def move_all(
        self,
        queue: str,
        target: str,
        *,
        max_messages: int | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> int:
        """Move all messages of a queue, except those in hand, to another one. Returns how many."""
        arguments: dict[str, tuple[str, Any]] = {
            "queue": ("text", queue),
            "target": ("text", target),
            "max_messages": ("bigint", max_messages),
            "reason": ("text", reason),
            "dry_run": ("boolean", dry_run),
        }
        return await self._run(scalar("move_all", **arguments).then(int))

    async def park_messages(
        self,
        queue: str,
        message_ids: Sequence[int],
        *,
        until: datetime | None = None,
        delay: Seconds | None = None,
        reason: str | None = None,
    ) -> int:
        """Park messages until a time, or without one until ``retry``. Parks all or none."""
        arguments = {
            "queue": ("text", queue),
            "message_ids": numbers(message_ids),
            "until": ("timestamptz", until),
            "delay": ("interval", interval("delay", delay)),
            "reason": ("text", reason),
        }
        return await self._run(scalar("park_messages", **arguments).then(int))

    async def retry(self, queue: str, message_ids: Sequence[int] | None = None, reason: str | None = None) -> int:
        """Make parked messages ready at once, in their old position; all of them without ``message_ids``."""
        arguments = {"queue": ("text", queue), "message_ids": numbers(message_ids), "reason": ("text", reason)}
        return await self._run(scalar("retry", **arguments).then(int))

    async def discard(
        self,
        queue: str,
        message_ids: Sequence[int] | None = None,
        reason: str | None = None,
        *,
        max_messages: int | None = None,
        dry_run: bool = False,
        **which: Unpack[Which],
    ) -> int:
        """Discard messages for good. Returns how many.

        Discards all named messages or none; or those that ``list_poison`` shows with the same filters.
        ``dry_run``: only return how many.
        """
        arguments = chosen(queue, message_ids, which, reason, max_messages, dry_run)
        return await self._run(scalar("discard", **arguments).then(int))
