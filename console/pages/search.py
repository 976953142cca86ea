"""Where a search leads: to a queue, a message, a trace, or whatever else has such a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from .. import traces
from ..database import Work
from .listings import Listing
from .page import Link

#: How many rows of each kind are shown.
EACH = 25
#: The page on which each kind of thing is, and how it is found there.
PLACES: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, dict[str, Any]]]] = {
    "queue": lambda row: ("/queue", {"name": row["name"]}),
    "topic": lambda row: ("/subscriptions", {"topic": row["name"]}),
    "subscription": lambda row: ("/subscriptions", {} if "*" in row["queue_name"] else {"topic": row["queue_name"]}),
    "schedule": lambda row: ("/schedules", {"queue": row["queue_name"]}),
    "worker": lambda row: ("/workers", {}),
    "link": lambda row: ("/links", {}),
    "instance": lambda row: ("/instances", {}),
}


def _place(row: Mapping[str, Any], link: Link) -> str:
    path, parts = PLACES[row["kind"]](row)
    return link(path, **parts)


FOUND = Listing(
    "Found",
    "find_names",
    (("kind", "What"), ("name", "Name"), ("queue_name", "Of")),
    "Nothing that you may see has such a name. Search for a part of it, a message's number, or a trace.",
    hint=f"The first {EACH} of each kind with this in their names.",
    arguments=(("part", "text"),),
    needed="part",
    always=(("max_rows", "integer", EACH),),
    links={"name": _place},
)


def place_of(work: Work, sought: str) -> str:
    """The path of the best page for what was sought."""
    sought = sought.replace("\0", "").strip()
    names = [row["queue_name"] for row in work.part(lambda: work.admin.queue_figures([sought], 0))]
    if sought in names:
        return _path("/queue", {"name": sought})
    trace = traces.sought(sought)
    if trace:
        return _path("/trace", {"id": trace})
    if sought.isascii() and sought.isdigit() and len(sought) < 19:
        found = work.part(lambda: [work.admin.poison_message(int(sought))])
        if found and found[0] is not None:
            return _path("/message", {"queue": found[0].message.queue, "id": sought})
    rows = work.part(lambda: _named(work, sought)) if sought else []
    others = [row for row in rows if row["kind"] != "queue"]
    same = [row for row in others if row["name"] == sought]
    if not others:
        return _path("/queues", {"like": sought})
    if len(same) == 1 or len(rows) == 1:
        return _path(*PLACES[(same or rows)[0]["kind"]]((same or rows)[0]))
    return _path("/found", {"part": sought})


def _named(work: Work, part: str) -> list[dict[str, Any]]:
    return work.table("find_names", "kind, name, queue_name", part=("text", part), max_rows=("integer", 2))


def _path(path: str, parts: Mapping[str, Any]) -> str:
    given = {name: part for name, part in parts.items() if part is not None}
    return path + ("?" + urlencode(given) if given else "")
