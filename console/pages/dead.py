"""Dead messages, one by one, and acts on all that died of the same cause."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .listings import Listing
from .page import Link


def _of_cause(act: str) -> Callable[[Mapping[str, Any], Link], str]:
    """The form of an act on all dead messages there with the row's cause."""

    def place(row: Mapping[str, Any], link: Link) -> str:
        filter_ = json.dumps({"state": "dead", "cause": row["last_fingerprint"]})
        return link("/act", act=act, queue=row["exception_queue"], filter=filter_)

    return lambda row, link: place(row, link) if row["last_fingerprint"] else _message(row, link)


def _message(row: Mapping[str, Any], link: Link) -> str:
    return link("/message", queue=row.get("exception_queue") or row.get("queue_name"), id=row["message_id"])


DEAD = Listing(
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
    "No message is dead here.",
    arguments=(
        ("queue", "text"),
        ("origin", "text"),
        ("error_class", "text"),
        ("fingerprint", "text"),
        ("selector", "text"),
    ),
    limit="max_rows",
    after=("after", "message_id"),
    acts={"Replay this cause": _of_cause("replay"), "Discard this cause": _of_cause("discard")},
    links={
        "message_id": _message,
        "last_fingerprint": lambda row, link: link("/dead", fingerprint=row["last_fingerprint"]),
    },
)
