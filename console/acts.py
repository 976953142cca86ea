"""What an operator can do from the console: each act with its fields, its preview and its call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from ..engine.admin.logs import Logs
from ..engine.calls.bodies import to_json
from ..engine.errors import BadArgument
from .asked import REASON, Act, Asked, Done, Field
from .database import Work
from .things import THINGS, described
from .times import moment

#: Messages of one batch: a transaction of its own.
BATCH = 500
MANY = 5000
#: Fields of a message to send that are text.
SENT_TEXTS = ("content_type", "message_type", "message_group", "correlation_id", "reply_to")

TARGET_QUEUE: Field = ("other", "To which queue", "needed")


def preview(work: Work, act: Act, asked: Asked) -> tuple[str, int | None]:
    """How many it will deal with, in words and as a number, possibly an estimate. None: too many to count."""
    if act.things is not None:
        return described(work, act.things, asked)
    if not act.matching:
        return "", None
    if asked.ids:
        return f"It deals with {len(asked.ids):,} messages.", len(asked.ids)
    given = {"state": act.state} if act.state else {}
    rows = work.table(
        "count_matching",
        "matching, looked, complete",
        queue=("text", asked.queue),
        filter=("jsonb", to_json(given | json.loads(asked.filter))),
    )
    found = rows[0]
    if found["complete"]:
        return f"It deals with all that match: {found['matching']:,} messages.", found["matching"]
    said = f"It deals with all that match: {found['matching']:,} among the first {found['looked']:,}, and later ones."
    return said, None if given or json.loads(asked.filter) else _all_in(work, asked.queue)


def _all_in(work: Work, queue: str) -> int:
    """About how many messages a queue has, by figures that are kept."""
    (row,) = work.table("queue_stats", "live, parked", queue=("text", queue))
    return int(row["live"] + row["parked"])


def _single(function: Callable[[Work, Asked], object]) -> Callable[[Work, Asked], Done]:
    """An act on a queue. Its reason goes to the acts, to the changes and to the log."""

    def perform(work: Work, asked: Asked) -> Done:
        work.because(asked.reason)
        result = function(work, asked)
        facts = {"queue": asked.queue, "by": work.person.name}
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
        priority=_whole(asked.values, "priority"),
        delay=_whole(asked.values, "delay"),
        time_to_live=_whole(asked.values, "time_to_live"),
        **{name: asked.values.get(name) or None for name in SENT_TEXTS},
        reason=work.reason(asked.reason),
    )
    return 0 if sent is None else 1


def _whole(values: Mapping[str, str], name: str) -> int | None:
    given = values.get(name)
    try:
        return int(given) if given else None
    except ValueError as error:
        raise BadArgument(f"the {name.replace('_', ' ')} {given!r} is no whole number") from error


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
            ("time_to_live", "Seconds until it expires (empty: as the queue says)", "optional"),
            ("message_type", "Type (empty: none)", "optional"),
            ("message_group", "Group, whose messages are delivered in order (empty: none)", "optional"),
            ("correlation_id", "Correlation id (empty: none)", "optional"),
            ("reply_to", "Queue for answers (empty: none)", "optional"),
            REASON,
        ),
    ),
    # In batches: purging a long queue at once takes longer than a statement of the console may.
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
    **THINGS,
}
