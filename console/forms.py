"""The forms of acts: what is asked, how many it concerns, and the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData, QueryParams

from ..engine.errors import BadArgument, NameNotFound
from .acts import ACTS, Act, Asked, Done, preview
from .database import Work
from .pages.page import Shown

#: Fields that every act has a place for; the others are its own.
COMMON = ("act", "queue", "target", "filter", "after", "sofar", "left", "total")
_NUMBER = re.compile("[0-9]{1,18}")


def asked_by(given: QueryParams | FormData) -> Asked:
    """What a URL or a form asks for: one thing, chosen messages, or all that match. Raises BadArgument."""
    # A browser writes the lines of a text with carriage returns.
    values = {name: str(value).replace("\0", "").replace("\r\n", "\n") for name, value in given.multi_items()}
    try:
        ids = tuple(int(str(value)) for value in given.getlist("id"))
        if not isinstance(json.loads(values.get("filter") or "{}"), dict):
            raise TypeError
        json.loads(values.get("after") or "null")
    except (TypeError, ValueError, RecursionError) as error:
        raise BadArgument("the form has a number or a filter that is none") from error
    return Asked(
        values.get("queue", ""),
        values.get("target", ""),
        ids,
        values.get("filter") or "{}",
        values.get("reason", "").strip(),
        values,
        values.get("after", ""),
    )


def act_of(given: Mapping[str, Any]) -> Act:
    """The act that a URL or a form names. Raises NameNotFound."""
    act = ACTS.get(str(given.get("act", "")))
    if act is None:
        raise NameNotFound("there is no such act")
    return act


def form(work: Work, act: Act, name: str, asked: Asked, error: str = "") -> Shown:
    """The form of an act, with its preview."""
    fields = [(field, label, kind, _value(work, name, field, asked)) for field, label, kind in act.fields]
    if act.destructive:
        fields.append(("typed", f"Nobody can undo this. Write the queue's name, {asked.queue}", "needed", ""))
    return _form(act, name, asked, preview=preview(work, act, asked), error=error, fields=fields, going="")


def sofar(given: Mapping[str, Any]) -> Done:
    """What the batches before have done, as the page between them says."""
    count, left = (str(given.get(name, "")) for name in ("sofar", "left"))
    return Done(int(count) if _NUMBER.fullmatch(count) else 0, None, int(left) if _NUMBER.fullmatch(left) else 0)


def told(count: int, left: int) -> str:
    """How many were dealt with, in words."""
    rest = f" {left:,} left alone: in somebody's hands, or without a queue to go back to." if left else ""
    return (f"{count:,} done." if count or left else "Nothing was done: there was nothing to do.") + rest


def going_on(act: Act, name: str, asked: Asked, done: Done) -> Shown:
    """The page between two batches: it goes on by itself unless somebody stops it. done: all batches so far."""
    shown = _form(act, name, asked, preview="", error="", fields=[], going=f"So far: {told(done.count, done.left)}")
    hidden = {field: asked.values.get(field, "") for field, _, _ in act.fields}
    if act.destructive:
        hidden["typed"] = asked.values.get("typed", "")
    more = {**shown.values["hidden"], **hidden}
    more |= {"after": done.after, "sofar": str(done.count), "left": str(done.left)}
    return Shown(shown.template, {**shown.values, "hidden": more})


def check(act: Act, asked: Asked) -> None:
    """Raises BadArgument if the form lacks what the act needs."""
    for field, label, kind in act.fields:
        if kind == "needed" and not asked.values.get(field, "").strip():
            raise BadArgument(f"the form lacks: {label}")
    if act.destructive and asked.values.get("typed") != asked.queue:
        raise BadArgument("the queue's name was not written as it is", "Nothing was done.")


def _form(act: Act, name: str, asked: Asked, **values: Any) -> Shown:
    hidden = {"act": name, "queue": asked.queue, "target": asked.target}
    words: dict[str, str] = {}
    if act.matching and not asked.ids:
        hidden["filter"] = asked.filter
        matching = json.loads(asked.filter)
        words["matching"] = ", ".join(f"{key.replace('_', ' ')} {_word(value)}" for key, value in matching.items())
    about = asked.queue or asked.target
    if asked.ids:
        about += " " + ", ".join(map(str, asked.ids[:20]))
    return Shown(
        "act.html",
        {
            "title": act.title,
            "about": about,
            "hidden": hidden,
            "ids": asked.ids,
            "queue": asked.queue,
            "destructive": act.destructive,
            "matching": words.get("matching"),
            **values,
        },
    )


def _word(value: Any) -> str:
    return ", ".join(f"{name}={one}" for name, one in value.items()) if isinstance(value, dict) else str(value)


def _value(work: Work, name: str, field: str, asked: Asked) -> str:
    """What a field holds at first: for a message to edit, its body as the person may see it."""
    if name == "edit" and field == "body" and len(asked.ids) == 1 and "body" not in asked.values:
        arguments = {"queue": ("text", asked.queue), "message_id": ("bigint", asked.ids[0])}
        rows = work.table("show_message", "body, body_type, redacted", **arguments)
        if rows and (rows[0]["redacted"] or rows[0]["body_type"] == "bytes"):
            raise BadArgument(
                "this body is redacted or no text: what you see is not what would be sent",
                "Edit it with howdah poison replay.",
            )
        return str(rows[0]["body"]) if rows else ""
    return asked.values.get(field, "")
