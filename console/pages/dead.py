"""Dead messages, one by one, and acts on all that died of the same cause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request

from ..database import Work
from .listings import Listing, RowAct
from .page import Link, Shown

QUEUE = "exception_queue"


def _of_cause(act: str) -> RowAct:
    """The form of an act on all dead messages there with the row's cause."""

    def place(row: Mapping[str, Any], link: Link) -> str:
        filter_ = json.dumps({"state": "dead", "cause": row["last_fingerprint"]})
        return link("/act", act=act, queue=row[QUEUE], filter=filter_)

    return RowAct(act, lambda row, link: place(row, link) if row["last_fingerprint"] else _message(row, link))


def _message(row: Mapping[str, Any], link: Link) -> str:
    return link("/message", queue=row.get("exception_queue") or row.get("queue_name"), id=row["message_id"])


ACTS = {"Replay this cause": _of_cause("replay"), "Discard this cause": _of_cause("discard")}
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
    "No message that you may browse is dead of this cause now.",
    hint="What is dead of one cause may lie in several exception queues. Each has its own acts.",
    arguments=(("fingerprint", "text"),),
    acts=ACTS,
)


@dataclass(frozen=True)
class _Dead(Listing):
    """Dead messages of the queue that is named, or of the one in which those of a cause lie, or these queues."""

    def page(self, request: Request, work: Work) -> Shown:
        """The table for this request."""
        given = self.given(request)
        if given["fingerprint"] and not given["queue"]:
            places = PLACES.rows(request, work, given)
            if len(places) != 1:
                links = {"exception_queue": lambda row, link: link("/dead", **{**given, "queue": row[QUEUE]})}
                return replace(PLACES, links=links).shown(request, work, PLACES.given(request), places)
            given["queue"] = places[0][QUEUE]
        return self.shown(request, work, given, self.rows(request, work, given))


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
    acts=ACTS,
    links={
        "message_id": _message,
        "last_fingerprint": lambda row, link: link("/dead", queue=row[QUEUE], fingerprint=row["last_fingerprint"]),
    },
)
