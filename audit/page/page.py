"""The page of an audit: one file that an auditor reads, prints and signs. It loads nothing from anywhere.

The verdict and its origin come first, then what could not be proved, the rules, the identity of each queue, and what
happened.
"""

from __future__ import annotations

import os
from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ...text.extras import how_to_install
from ..errors import AuditError
from ..evidence import COMMAND
from ..headline import headline
from ..identity import PROVED
from ..report import SIDES, proved
from ..reports.shown import Shown
from ..result import AuditResult, Queue
from ..unseen import LEAD, UNSEEN
from .parts import Cell, Table, at, clean, count, identifier, table, text
from .ranges import ranges_of
from .sections import sections

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = files(__package__)
"""This finds it even in a wheel that spark-submit has not unpacked, where a path would not."""
NAMED_MAX = 5
"""Queues that a sentence names."""


def environment() -> Environment:
    """The templates; whatever is put into one is escaped. Raises AuditError where the packages for it are missing."""
    try:
        import matplotlib  # noqa: F401 - the page's curves need it later
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ModuleNotFoundError as error:
        missing = f"the page needs {error.name}, which is not installed"
        raise AuditError(f"{missing}: {how_to_install('audit')}") from error
    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda name: (_HERE / name).read_text(encoding="utf-8")),
    )


def write_page(result: AuditResult, shown: Shown, paths: list[Path]) -> None:
    """Write the page to each path, whole or not at all. Raises AuditError if it cannot be."""
    from markupsafe import Markup

    html = (
        environment()
        .get_template("page.html.jinja")
        .render(
            result=result,
            headline=headline(result),
            unseen_lead=LEAD,
            unseen=UNSEEN,
            facts=facts(result, shown),
            unproved=unproved(result, shown),
            proof=[_rules(result), *_identity(result), *ranges_of(result)],
            sections=sections(shown),
            drawing=Markup,  # only for our own SVG, which holds no foreign text
            style=Markup((_HERE / "page.css").read_text(encoding="utf-8")),
        )
    )
    for path in paths:
        beside = path.with_name(f".{path.name}.part")
        try:
            beside.write_text(html, encoding="utf-8")
            os.replace(beside, path)
        except OSError as error:
            raise AuditError(f"cannot write {path}: {error.strerror}") from error


def facts(result: AuditResult, shown: Shown) -> list[tuple[str, str]]:
    """Who audited what, when and with which programs."""
    origin = result.origin
    assert origin is not None
    rows = ", ".join(f"{number:,} {name}" for name, number in result.rows.items())
    cluster = f", cluster {origin.system_identifier}" if origin.system_identifier else ""
    return [
        ("Database", clean(f"{origin.database} at {origin.server}{cluster}")),
        ("Snapshot", clean(f"{result.taken_at}, {result.snapshot}")),
        ("Read", f"{rows}; all in that one snapshot"),
        ("Proved", proved(result)),
        ("Audited by", clean(f"{origin.person}, as role {origin.role}")),
        ("Made", f"{origin.started_at}, in {result.seconds:.1f} s"),
        ("Programs", clean(f"Howdah {origin.howdah}, PostgreSQL {origin.postgresql}, Spark {origin.spark}")),
        *([("Evidence", f"SHA-256 {result.evidence} of the Parquet files ({COMMAND})")] if result.evidence else []),
        ("Record", f"the journal from {at(shown.first)} to {at(shown.taken_at)} UTC"),
    ]


def unproved(result: AuditResult, shown: Shown) -> list[str]:
    """What this audit could not prove, a sentence each."""
    found = [clean(note) for note in result.notes]
    weaker: dict[str, list[Queue]] = defaultdict(list)
    for queue in result.queues:
        if queue.balanced and queue.messages and queue.verdict not in PROVED:
            weaker[queue.verdict].append(queue)
    found += [f"{_queues(queues)}: {word}." for word, queues in sorted(weaker.items())]
    entered = sum(queue.unrecorded_in for queue in result.queues)
    left = sum(queue.unrecorded_out for queue in result.queues)
    if entered or left:
        found.append(
            f"{entered:,} messages came and {left:,} left without a record of it, at times and places where the"
            f" journal need not"
            " have one; they are taken as they are."
        )
    lost = sum(queue.lost for queue in result.queues)
    if lost:
        found.append(
            f"{lost:,} non-persistent messages are counted as lost with a restart of the server: of a crash there is"
            f" no record."
        )
    if shown.journal_kept_from is not None and shown.journal_kept_from > shown.first:
        found.append(f"What happened before {at(shown.journal_kept_from)} UTC: the journal is not kept so long.")
    if not result.locked:
        found.append("That no table was emptied while it was read: the role may not lock them.")
    return found


def _queues(queues: list[Queue]) -> str:
    names = ", ".join(clean(queue.queue, 60) for queue in queues[:NAMED_MAX])
    more = f" and {len(queues) - NAMED_MAX:,} more" if len(queues) > NAMED_MAX else ""
    return f"{'Queue' if len(queues) == 1 else 'Queues'} {names}{more}"


def _rules(result: AuditResult) -> Table:
    body = []
    for rule in result.rules:
        kind = "good" if rule.passed else "bad" if rule.severity == "error" else "warn"
        said = "holds" if rule.passed else "broken" if rule.severity == "error" else rule.severity
        samples = ", ".join(str(number) for number in rule.samples)
        queues = ", ".join(clean(name, 60) for name in rule.queues[:NAMED_MAX])
        queues += f" and {len(rule.queues) - NAMED_MAX:,} more" if len(rule.queues) > NAMED_MAX else ""
        body.append(
            [
                Cell(said, kind),
                identifier(rule.name),
                text(rule.meaning),
                count(rule.count),
                text(queues),
                text(samples),
            ]
        )
    return Table(
        "Rules",
        ("", "rule", "broken by", "messages", "queues", "for example"),
        body,
        (
            "A rule of severity error that is broken fails the audit; a warning makes its exit code 6; a notice says"
            " what the record does not cover."
        ),
    )


def _identity(result: AuditResult) -> list[Table]:
    """Each queue's terms; unbalanced queues first, then those with most messages."""
    rows = [
        {name: getattr(queue, name) for name in ("queue", "messages", "verdict", "faults", "difference")}
        | {side: sum(getattr(queue, term) for term in terms) for side, terms in SIDES.items()}
        | {"terms": _terms(queue), "balanced": queue.balanced}
        for queue in result.queues
    ]
    rows.sort(key=lambda row: (row["balanced"], -row["messages"], row["queue"]))
    columns = {
        "queue": ("queue", text),
        "came in": ("came in", count),
        "went out": ("went out", count),
        "there now": ("there now", count),
        "difference": ("difference", count),
        "faults": ("faults", lambda number: Cell(f"{number:,}", "n bad" if number else "n")),
        "verdict": (
            "verdict",
            lambda word: Cell(word, "good" if word in PROVED else "bad" if word == "not balanced" else ""),
        ),
        "terms": ("in detail", lambda words: Cell(words, "small")),
    }
    return (
        [
            table(
                "Identity of each queue",
                rows,
                columns,
                sums=("came in", "went out", "there now", "difference", "faults"),
                note="came in = went out + there now, by message: one that is missing and one that is doubled are two"
                " faults.",
            )
        ]
        if rows
        else []
    )


def _terms(queue: Queue) -> str:
    """The terms that are not 0."""
    sides = []
    for terms in SIDES.values():
        said = [f"{getattr(queue, term):,} {name}" for term, name in terms.items() if getattr(queue, term)]
        sides.append(" + ".join(said) or "0")
    return f"{sides[0]} = {' + '.join(side for side in sides[1:] if side != '0') or '0'}"
