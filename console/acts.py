"""What an operator can do from the console: each act with its fields, its preview and its call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..engine.admin.links import Links
from ..engine.admin.logs import Logs
from ..engine.admin.schedules import Schedules
from ..engine.calls.bodies import to_json
from ..engine.calls.consumers import close_consumer
from ..engine.errors import BadArgument
from .database import Work
from .times import moment

#: Messages of one batch: a transaction of its own.
BATCH = 500
MANY = 5000

Field = tuple[str, str, str]
REASON: Field = ("reason", "Why? It is recorded under your name.", "needed")
TARGET_QUEUE: Field = ("other", "To which queue", "needed")


@dataclass(frozen=True)
class Asked:
    """What a form says."""

    queue: str
    #: What the act is done to where that is not the queue or its messages: a schedule, a link.
    target: str
    ids: tuple[int, ...]
    filter: str
    reason: str
    #: The other fields.
    values: Mapping[str, str]
    #: Where the batch before ended.
    after: str = ""


@dataclass(frozen=True)
class Done:
    """How many were dealt with, and where to go on if that was one batch of more."""

    count: int
    after: str | None = None
    #: Those that match and were left: they are in somebody's hands, or have no queue to go back to.
    left: int = 0


@dataclass(frozen=True)
class Act:
    """Something that can be done."""

    title: str
    perform: Callable[[Work, Asked], Done]
    fields: tuple[Field, ...] = (REASON,)
    #: What it destroys cannot be had again: the queue's name is asked for.
    destructive: bool = False
    #: Whether it deals with messages: named ones, or all that match a filter.
    matching: bool = False
    #: What act_on_matching adds to the filter, where that says nothing of it.
    state: str | None = None


def preview(work: Work, act: Act, asked: Asked) -> str:
    """How many it will deal with."""
    if not act.matching:
        return ""
    if asked.ids:
        return f"It deals with {len(asked.ids):,} messages."
    given = {"state": act.state} if act.state else {}
    rows = work.table(
        "count_matching",
        "matching, looked, complete",
        queue=("text", asked.queue),
        filter=("jsonb", to_json(given | json.loads(asked.filter))),
    )
    found = rows[0]
    if found["complete"]:
        return f"It deals with all that match: {found['matching']:,} messages."
    return f"It deals with all that match: {found['matching']:,} among the first {found['looked']:,}, and later ones."


def _single(function: Callable[[Work, Asked], object]) -> Callable[[Work, Asked], Done]:
    """An act on one thing; its reason goes to the changes and to the log."""

    def perform(work: Work, asked: Asked) -> Done:
        work.because(asked.reason)
        result = function(work, asked)
        facts = {"queue": asked.queue, "target": asked.target, "by": work.person.name}
        Logs(work.run).write("INFO", f"from the console: {asked.reason}"[:2000], facts)
        return Done(int(result) if isinstance(result, int) else 1)

    return perform


def _on_messages(name: str, batch: int | None = None) -> Callable[[Work, Asked], Done]:
    """An act on named messages at once, or on one batch of those that match."""

    def perform(work: Work, asked: Asked) -> Done:
        reason = work.reason(asked.reason)
        other = asked.values.get("other") or None
        until = moment(asked.values.get("until"))
        if asked.ids:
            return Done(_NAMED[name](work, asked, reason, other, until))
        options: dict[str, Any] = {"target": other, "until": until.isoformat() if until else None}
        options = {key: value for key, value in options.items() if value}
        if asked.after:
            options["after"] = json.loads(asked.after)
        rows = work.table(
            "act_on_matching",
            "done, passed, cursor",
            queue=("text", asked.queue),
            act=("text", name),
            filter=("jsonb", asked.filter),
            reason=("text", reason),
            batch=("integer", batch or BATCH),
            options=("jsonb", to_json(options)),
        )
        cursor = rows[0]["cursor"]
        return Done(rows[0]["done"], None if cursor is None else json.dumps(cursor), rows[0]["passed"])

    return perform


_NAMED: dict[str, Callable[[Work, Asked, str, str | None, datetime | None], int]] = {
    "retry": lambda work, asked, reason, other, until: work.admin.retry(asked.queue, asked.ids, reason),
    "replay": lambda work, asked, reason, other, until: work.admin.replay(
        asked.queue, asked.ids, target=other, reason=reason
    ),
    "move": lambda work, asked, reason, other, until: work.admin.move_messages(
        asked.queue, asked.ids, other or "", reason
    ),
    "park": lambda work, asked, reason, other, until: work.admin.park_messages(
        asked.queue, asked.ids, until=until, reason=reason
    ),
    "discard": lambda work, asked, reason, other, until: work.admin.discard(asked.queue, asked.ids, reason),
}


def _send(work: Work, asked: Asked) -> int:
    headers = asked.values.get("headers") or "{}"
    try:
        given = json.loads(headers)
    except (ValueError, RecursionError) as error:
        raise BadArgument("the headers are no JSON object", 'Write them as {"name": "value"}.') from error
    sent = work.admin.send_by_hand(
        asked.queue,
        asked.values.get("body", ""),
        headers=given or None,
        priority=_whole(asked.values.get("priority"), "priority"),
        delay=_whole(asked.values.get("delay"), "delay"),
        content_type=asked.values.get("content_type") or None,
        reason=work.reason(asked.reason),
    )
    return 0 if sent is None else 1


def _whole(given: str | None, name: str) -> int | None:
    try:
        return int(given) if given else None
    except ValueError as error:
        raise BadArgument(f"the {name} {given!r} is no whole number") from error


def _edit(work: Work, asked: Asked) -> Done:
    if len(asked.ids) != 1:
        raise BadArgument("one message can be edited, not several")
    work.admin.replay_edited(
        asked.queue,
        asked.ids[0],
        body=asked.values.get("body", ""),
        discard=bool(asked.values.get("discard")),
        reason=work.reason(asked.reason),
    )
    return Done(1)


def _seek(work: Work, asked: Asked) -> int:
    since = moment(asked.values.get("since"))
    if since is None:
        raise BadArgument("say since when")
    work.admin.seek_subscription(asked.target, since)
    return 1


def _fire(work: Work, asked: Asked) -> int:
    _schedules(work).fire_now(_id(asked), work.reason(asked.reason))
    return 1


ACTS: Mapping[str, Act] = {
    "send": Act(
        "Send",
        _single(_send),
        (
            ("body", "Body", "text"),
            ("headers", "Headers, a JSON object", "optional"),
            ("content_type", "Content type (empty: text/plain)", "optional"),
            ("priority", "Priority, 0 to 9 (empty: the queue's default)", "optional"),
            ("delay", "Seconds until it is delivered (empty: at once)", "optional"),
            REASON,
        ),
    ),
    "pause": Act("Pause", _single(lambda work, asked: work.admin.pause(asked.queue))),
    "resume": Act("Resume", _single(lambda work, asked: work.admin.resume(asked.queue))),
    # In batches: to purge a long queue at once takes longer than a statement of the console may.
    "purge": Act("Purge", _on_messages("discard", MANY), destructive=True, matching=True),
    "retry": Act("Retry", _on_messages("retry"), matching=True, state="parked"),
    "replay": Act(
        "Replay",
        _on_messages("replay"),
        (("other", "To which queue (empty: where each died)", "optional"), REASON),
        matching=True,
        state="dead",
    ),
    "move": Act("Move", _on_messages("move"), (TARGET_QUEUE, REASON), matching=True),
    "park": Act(
        "Park",
        _on_messages("park"),
        (("until", "Until when (empty: until somebody retries it)", "optional"), REASON),
        matching=True,
    ),
    "discard": Act("Discard", _on_messages("discard"), destructive=True, matching=True),
    "edit": Act(
        "Edit and replay", _edit, (("body", "Body", "text"), ("discard", "Discard the original", "box"), REASON)
    ),
    "seek": Act("Seek", _single(_seek), (("since", "Since when, such as 2026-01-31T06:00:00Z", "needed"), REASON)),
    "pause-schedule": Act("Pause the schedule", _single(lambda work, asked: _schedules(work).pause(_id(asked)))),
    "resume-schedule": Act("Resume the schedule", _single(lambda work, asked: _schedules(work).resume(_id(asked)))),
    "fire-schedule": Act("Fire the schedule now", _single(_fire)),
    "cancel-schedule": Act("Cancel the schedule", _single(lambda work, asked: _schedules(work).cancel(_id(asked)))),
    "pause-link": Act("Pause the link", _single(lambda work, asked: Links(work.run).pause(asked.target))),
    "resume-link": Act("Resume the link", _single(lambda work, asked: Links(work.run).resume(asked.target))),
    "end-consumer": Act("End the consumer", _single(lambda work, asked: work.run(close_consumer(_id(asked))))),
}


def _schedules(work: Work) -> Schedules:
    return Schedules(work.run)


def _id(asked: Asked) -> int:
    try:
        return int(asked.target)
    except ValueError as error:
        raise BadArgument(f"{asked.target!r} is no number") from error
