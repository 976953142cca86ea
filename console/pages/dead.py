"""Dead messages, one by one, and acts on all that died of the same cause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from ..database import Work
from .listings import Listing, RowAct
from .page import Link, number


def _of_cause(act: str) -> RowAct:
    """The form of an act on all dead messages there with the row's cause."""

    def place(row: Mapping[str, Any], link: Link) -> str:
        filter_ = json.dumps({"state": "dead", "cause": row["last_fingerprint"]})
        return link("/act", act=act, queue=row["exception_queue"], filter=filter_)

    return RowAct(act, lambda row, link: place(row, link) if row["last_fingerprint"] else _message(row, link))


def _message(row: Mapping[str, Any], link: Link) -> str:
    return link("/message", queue=row.get("exception_queue") or row.get("queue_name"), id=row["message_id"])


@dataclass(frozen=True)
class _Dead(Listing):
    """Dead messages of the queue that is named, or of the one in which a message lies."""

    def given(self, request: Request, work: Work) -> dict[str, str | None]:
        """The arguments that the URL says."""
        found, sample = super().given(request, work), number(request, "sample")
        if found["queue"] is None and sample is not None:
            lying = work.part(lambda: [work.admin.poison_message(sample)])
            if lying and lying[0] is not None:
                found["queue"] = lying[0].message.queue
        return found


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
    acts={"Replay this cause": _of_cause("replay"), "Discard this cause": _of_cause("discard")},
    links={
        "message_id": _message,
        "last_fingerprint": lambda row, link: link(
            "/dead", queue=row["exception_queue"], fingerprint=row["last_fingerprint"]
        ),
    },
)
