"""Dead messages, one by one, and acts on all that died of the same cause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request

from ...engine.calls import Rows
from ..database import Work
from .listings import Listing, RowAct
from .page import Link, Shown, number

QUEUE = "exception_queue"


def _of_cause(act: str, origin: str | None = None) -> RowAct:
    """The form of an act on all dead messages there with the row's cause, or on those that died in one queue."""

    def place(row: Mapping[str, Any], link: Link) -> str:
        filter_ = {"state": "dead", "cause": row["last_fingerprint"], **({"origin": origin} if origin else {})}
        return link("/act", act=act, queue=row[QUEUE], filter=json.dumps(filter_))

    return RowAct(act, lambda row, link: place(row, link) if row["last_fingerprint"] else _message(row, link))


def _message(row: Mapping[str, Any], link: Link) -> str:
    return link("/message", queue=row.get("exception_queue") or row.get("queue_name"), id=row["message_id"])


def _acts(origin: str | None = None) -> dict[str, RowAct]:
    return {"Replay this cause": _of_cause("replay", origin), "Discard this cause": _of_cause("discard", origin)}


#: How many of the last dead messages are looked at, to find where those of one cause lie.
LOOKED = 25_000
#: The exception queues in which the dead of one cause lie.
PLACES = Listing(
    "Dead messages",
    "list_poison_queues",
    (
        ("exception_queue", "Lie in"),
        ("dead", "Dead now"),
        ("first_dead_at", "First died"),
        ("last_dead_at", "Last died"),
        ("last_fingerprint", "Cause"),
    ),
    f"No message that you may browse is dead of this cause now, among the last {LOOKED:,} dead.",
    hint="What is dead of one cause may lie in several exception queues. Each has its own acts.",
    arguments=(("fingerprint", "text"), ("origin", "text")),
    acts=_acts(),
)


@dataclass(frozen=True)
class _Dead(Listing):
    """Dead messages of the queue that is named, or of the one in which those of a cause lie, or these queues."""

    def page(self, request: Request, work: Work) -> Shown:
        """The table for this request."""
        given = self.given(request)
        origin = given["origin"]
        begin: int | None = None
        if given["fingerprint"] and number(request, "after") is None:
            places = work.admin.list_poison_queues(given["fingerprint"], origin, max_dead=LOOKED)
            if not given["queue"]:
                if len(places) != 1:
                    return _places(request, work, given, places)
                given["queue"] = places[0][QUEUE]
            # The search for a cause begins at the first one found: a million others may lie before it.
            begin = next((_before(row) for row in places if row[QUEUE] == given["queue"]), None)
        links = {**self.links, "last_fingerprint": lambda row, link: _same_cause(row, link, origin)}
        rows = self.rows(request, work, given, {"after": begin})
        shown: Shown = replace(self, acts=_acts(origin), links=links).shown(request, work, given, rows)
        if begin is None:
            return shown
        older = request.url.include_query_params(queue=given["queue"], after=-1)
        return replace(shown, values={**shown.values, "older": f"{older.path}?{older.query}", "looked": LOOKED})


def _before(place: Mapping[str, Any]) -> int | None:
    """The position before the first dead message that was found there, if not all were looked at."""
    return None if place["complete"] else place["first_position"] - 1


def _places(request: Request, work: Work, given: Mapping[str, str | None], places: Rows) -> Shown:
    """Where the dead of a cause lie."""
    links = {QUEUE: lambda row, link: link("/dead", **{**given, "queue": row[QUEUE]})}
    all_of_them = not places or places[0]["complete"]
    hint = PLACES.hint if all_of_them else f"{PLACES.hint} Only the last {LOOKED:,} dead messages were looked at."
    listing = replace(PLACES, links=links, acts=_acts(given["origin"]), hint=hint)
    return listing.shown(request, work, PLACES.given(request), places)


def _same_cause(row: Mapping[str, Any], link: Link, origin: str | None = None) -> str:
    """All dead messages there of the row's cause."""
    return link("/dead", queue=row[QUEUE], fingerprint=row["last_fingerprint"], origin=origin)


DEAD = _Dead(
    "Dead messages",
    "list_poison",
    (
        ("message_id", "Message"),
        ("exception_queue", "Lies in"),
        ("origin_queue", "Died in"),
        ("dead_at", "Died"),
        ("dead_reason", "Why"),
        ("failures", "Failures"),
        ("last_error_class", "Error"),
        ("last_error_text", "It said"),
        ("last_fingerprint", "Cause"),
    ),
    "No message is dead here. A queue with an exception queue of its own keeps its dead there: name that one.",
    arguments=(
        ("queue", "text"),
        ("origin", "text"),
        ("error_class", "text"),
        ("fingerprint", "text"),
        ("selector", "text"),
    ),
    limit="max_rows",
    after=(("after", "bigint", "position"),),
    acts=_acts(),
    links={
        "message_id": _message,
        "last_fingerprint": _same_cause,
    },
)
