"""Pages that are one table: a function of the engine, its columns, and what to do where it is empty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from starlette.requests import Request

from ...engine.calls import Rows
from ..database import Work
from ..rights import offered
from .page import Columns, Link, Shown, number, text, time_of, uuid_of

MOST = 200
#: How an argument of each SQL type is read from the URL.
FROM_URL: Mapping[str, Callable[[Request, str], Any]] = {
    "bigint": number,
    "integer": lambda request, name: number(request, name, 2**31),
    "text": text,
    "timestamptz": time_of,
    "uuid": uuid_of,
}


def to_queue(row: Mapping[str, Any], link: Link) -> str:
    """The page of the queue that the row names."""
    return link("/queue", name=row.get("queue_name") or row.get("queue"))


def to_messages(row: Mapping[str, Any], link: Link) -> str:
    """The messages of the queue or subscription that the row names."""
    return link("/messages", queue=row["queue_name"])


@dataclass(frozen=True)
class RowAct:
    """An act on what a row names: where its form is."""

    name: str
    place: Callable[[Mapping[str, Any], Link], str]


def to_act(act: str, key: str) -> RowAct:
    """The form of an act on what the row names."""
    return RowAct(act, lambda row, link: link("/act", act=act, target=row[key], queue=row.get("queue_name", "")))


@dataclass(frozen=True)
class Listing:
    """A page of one table."""

    title: str
    function: str
    columns: Columns
    empty: str
    hint: str = ""
    #: Parameters of the URL that are arguments of the function, with their SQL types.
    arguments: tuple[tuple[str, str], ...] = ()
    #: An argument without which there is nothing to show.
    needed: str = ""
    links: Mapping[str, Callable[[Mapping[str, Any], Link], str]] = field(default_factory=dict)
    #: A column for an act on a row, by its title.
    acts: Mapping[str, RowAct] = field(default_factory=dict)
    #: The column by which rows are chosen for these acts, and by which acts on all take them.
    pick: str = ""
    #: The argument that names the queue or topic for acts on all of it.
    all_of: str = ""
    #: The argument that names the queue of those chosen, where no act is on all of it.
    within: str = ""
    #: The argument that says how many rows.
    limit: str = ""
    #: Arguments that say where the next page begins, each with its SQL type and the column of the last row.
    after: tuple[tuple[str, str, str], ...] = ()
    #: Argument that is always the same.
    always: tuple[tuple[str, str, Any], ...] = ()

    def page(self, request: Request, work: Work) -> Shown:
        """The table for this request."""
        given = self.given(request)
        return self.shown(request, work, given, self.rows(request, work, given))

    def shown(self, request: Request, work: Work, given: Mapping[str, str | None], rows: Rows) -> Shown:
        """The table with these rows."""
        may = offered(work, given.get("queue")) if self.acts else frozenset()
        further, rows = len(rows) > MOST, rows[:MOST]
        acts = {title: act for title, act in self.acts.items() if act.name in may}
        for row in rows:
            row.update((title, f"{title}…") for title in acts)
        return Shown(
            "listing.html",
            {
                "title": self.title,
                "about": "",
                "hint": self.hint,
                "rows": rows,
                "columns": self.columns + tuple((title, "Act") for title in acts),
                "links": {**self.links, **{title: act.place for title, act in acts.items()}},
                "empty": f"Name a {self.needed} above." if self.needed and not given[self.needed] else self.empty,
                "filters": [
                    (name, name.replace("_", " ").capitalize(), given[name] or "") for name, _ in self.arguments
                ],
                "live_key": None,
                "choose": self._choose(given, acts),
                "more": self._more(request, given, rows[-1]) if further and self.after else None,
                "first": len(rows) if further and not self.after else None,
            },
        )

    def _choose(self, given: Mapping[str, str | None], acts: Mapping[str, RowAct]) -> Mapping[str, Any] | None:
        """How rows are chosen for acts, and what acts on all cover. None: rows cannot be chosen."""
        if not (self.pick and acts):
            return None
        named = [(act.name, title) for title, act in acts.items()]
        within = given.get(self.all_of or self.within) or ""
        return {"key": self.pick, "acts": named, "of": given.get(self.all_of) or "", "within": within}

    def given(self, request: Request) -> dict[str, str | None]:
        """The arguments that the URL says."""
        return {name: text(request, name) for name, _ in self.arguments}

    def rows(
        self, request: Request, work: Work, given: Mapping[str, str | None], begin: Mapping[str, Any] | None = None
    ) -> Rows:
        """What the function returns, one row more than a page has; nothing if the needed argument is missing.

        begin: where the first page begins, if that is not the beginning.
        """
        if self.needed and not given[self.needed]:
            return []
        arguments: dict[str, tuple[str, Any]] = {name: (kind, given[name]) for name, kind in self.arguments}
        arguments |= {name: (kind, value) for name, kind, value in self.always}
        if self.limit:
            arguments[self.limit] = ("integer", MOST + 1)
        for name, kind, _ in self.after:
            place = FROM_URL[kind](request, name)
            arguments[name] = (kind, (begin or {}).get(name) if place is None else place)
        names = {name for name, _ in self.columns} | {column for _, _, column in self.after}
        return work.table(self.function, ", ".join(sorted(names)), **arguments)

    def _more(self, request: Request, given: Mapping[str, str | None], row: Mapping[str, Any]) -> str:
        """The address of the page after this row, without arguments that the row lacks: they are of an earlier page."""
        last = {name: row[column] for name, _, column in self.after}
        place = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in last.items()}
        following = request.url.remove_query_params(list(place)).include_query_params(
            **{name: value for name, value in {**given, **place}.items() if value is not None}
        )
        return f"{following.path}?{following.query}"
