"""The forms of acts: what is asked, how many it concerns, and the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData, QueryParams

from ..engine.errors import BadArgument, NameNotFound, NotAllowed
from .acts import ACTS, preview
from .asked import Act, Asked, Done
from .database import Work
from .pages.page import Shown
from .rights import offered
from .things import QUEUES, word
from .times import whole

#: The fields with which a form between two batches tells of earlier ones.
CARRIED = ("after", "sofar", "left", "why", "total")


def asked_by(given: QueryParams | FormData) -> Asked:
    """What a URL or a form asks for: one thing, chosen ones, or all that match. Raises BadArgument."""
    # A browser writes the lines of a text with carriage returns.
    values = {name: str(value).replace("\0", "").replace("\r\n", "\n") for name, value in given.multi_items()}
    try:
        ids = tuple(number for value in given.getlist("id") if (number := whole(str(value))) is not None)
        if len(ids) < len(given.getlist("id")) or not isinstance(json.loads(values.get("filter") or "{}"), dict):
            raise TypeError
        json.loads(values.get("after") or "null")
    except (TypeError, ValueError, RecursionError) as error:
        raise BadArgument("the form has a number or a filter that is none") from error
    return Asked(
        values.get("queue", ""),
        tuple(str(value).replace("\0", "") for value in given.getlist("target") if value),
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


def form(work: Work, act: Act, name: str, asked: Asked) -> Shown:
    """The form of an act, with its preview. Raises NotAllowed if the person's role may not carry it out."""
    if name not in offered(work, asked.queue):
        raise NotAllowed(
            f"your role may not do this: {act.title}",
            "An administrator can grant it a role of Howdah that may, such as howdah_admin. Nothing was done.",
        )
    fields = [(field, label, kind, _value(work, name, field, asked)) for field, label, kind in act.fields]
    said, total = preview(work, act, asked)
    if act.destructive:
        fields.append(_typed(work, act, asked))
    carried = {} if total is None else {"total": str(total)}
    return _form(act, name, asked, carried, preview=said, fields=fields)


def confirming(work: Work, act: Act, name: str, asked: Asked, lost: str) -> Shown:
    """The form again, after an act that would lose something: what, with a field for the name."""
    fields = [(field, label, kind, asked.values.get(field, "")) for field, label, kind in act.fields]
    fields.append(_typed(work, act, asked))
    return _form(act, name, asked, _carried(asked), error=lost, fields=fields)


def sofar(given: Mapping[str, Any]) -> Done:
    """What earlier batches have done, as the page between two batches says."""
    count, left = (max(whole(str(given.get(name))) or 0, 0) for name in ("sofar", "left"))
    return Done(count, None, left, str(given.get("why", "")))


def told(done: Done) -> str:
    """How many were dealt with, in words."""
    why = done.why or "in somebody's hands, or without a queue to go back to"
    rest = f" {done.left:,} left alone: {why}." if done.left else ""
    return (f"{done.count:,} done." if done.count or done.left else "Nothing was done: there was nothing to do.") + rest


def going_on(act: Act, name: str, asked: Asked, done: Done) -> Shown:
    """The page between two batches: it goes on by itself unless somebody stops it. done: all batches so far."""
    carried = _carried(asked) | {field: asked.values.get(field, "") for field, _, _ in act.fields}
    if "typed" in asked.values:
        carried["typed"] = asked.values["typed"]
    carried |= {"after": done.after or "", "sofar": str(done.count), "left": str(done.left), "why": done.why}
    dealt_with, total = done.count + done.left, whole(asked.values.get("total", ""))
    # More may have come since they were counted.
    progress = {"value": dealt_with, "max": max(total, dealt_with)} if total else {}
    return _form(act, name, asked, carried, going=f"So far: {told(done)}", progress=progress)


def check(work: Work, act: Act, asked: Asked) -> None:
    """Raises BadArgument if the form lacks what the act needs."""
    for field, label, kind in act.fields:
        if kind == "needed" and not asked.values.get(field, "").strip():
            raise BadArgument(f"the form lacks: {label}")
    if act.destructive:
        what, wanted = word(work, act, asked)
        if asked.values.get("typed") != wanted:
            raise BadArgument(f"{what} was not written as it is", "Nothing was done.")


def _typed(work: Work, act: Act, asked: Asked) -> tuple[str, str, str, str]:
    what, wanted = word(work, act, asked)
    return "typed", f"Nobody can undo this. Write {what}, {wanted}", "needed", ""


def _carried(asked: Asked) -> dict[str, str]:
    return {field: asked.values[field] for field in CARRIED if asked.values.get(field)}


def _form(act: Act, name: str, asked: Asked, carried: Mapping[str, str], **values: Any) -> Shown:
    hidden = {"act": name, "queue": asked.queue}
    matching = None
    if asked.whole:
        hidden["all"] = "yes"
    if act.matching and not asked.ids:
        hidden["filter"] = asked.filter
        given = json.loads(asked.filter)
        matching = ", ".join(f"{key.replace('_', ' ')} {_word(value)}" for key, value in given.items())
    about = asked.queue or ", ".join(asked.targets[:20])
    if asked.ids:
        about += " " + ", ".join(map(str, asked.ids[:20]))
    usual = {"preview": "", "error": "", "fields": [], "going": "", "progress": {}}
    back = {"path": "/queue", "name": asked.queue} if asked.queue else {"path": "/"}
    if act.things is not None and not (act.things is QUEUES and asked.queue):
        back = {"path": act.things.page, **({act.things.of: asked.queue} if act.things.of else {})}
    return Shown(
        "act.html",
        {
            **usual,
            "title": act.title,
            "about": about,
            "hidden": {**hidden, **carried},
            "targets": asked.targets,
            "ids": asked.ids,
            "back": back,
            "acts_of": "" if act.things is not None and act.things.of != "queue" else asked.queue,
            "destructive": act.destructive or values.get("error"),
            "matching": matching,
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
