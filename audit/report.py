"""An audit's result for the terminal and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..text.controls import printable
from .headline import headline, is_subscription
from .identity import PROVED
from .result import AuditResult, Queue, RuleResult, Sample

SIDES = {
    "came in": {
        "sent": "sent",
        "moved_in": "moved in",
        "replayed_in": "replayed in",
        "unrecorded_in": "not recorded",
    },
    "went out": {
        "consumed": "consumed",
        "moved_out": "moved out",
        "replayed_out": "replayed out",
        "expired": "expired",
        "discarded": "discarded",
        "lost": "lost non-persistent",
        "unrecorded_out": "not recorded",
    },
    "there now": {"live": "live", "parked": "parked", "dead": "dead"},
}
VERDICT_WIDTH = 24
TITLES = {"error": "Broken rules", "warning": "Warnings", "notice": "Notices"}
"""By the gravest of the rules that are broken."""
STYLES = {"good": "bold green", "warn": "bold yellow", "bad": "bold red"}
"""By the kind of the headline."""


def print_report(result: AuditResult, console: Console | None = None) -> None:
    """Print each queue's identity, the broken rules, the page's main points, and the verdict."""
    out = console or Console()
    out.print(_identity_table(result))
    broken = [rule for rule in result.rules if not rule.passed]
    if broken:
        out.print(_rules_table(broken))
    for note in result.notes:
        out.print(Text(printable(note), style="yellow"))
    for line in result.highlights:
        out.print(Text(printable(f"  {line}")))
    out.print(_summary(result))
    if result.page is not None:
        out.print(Text(f"The page: {result.page}"))


def to_dict(result: AuditResult) -> dict[str, Any]:
    """Return the result in JSON's types."""
    return result.to_dict()


def _identity_table(result: AuditResult) -> Table:
    """A row for each queue, its name whole; each side of its identity names the terms that are not 0, one a line."""
    table = Table(title=f"Every message at {result.taken_at}", title_justify="left", show_lines=True)
    # The verdict stands below the name: with a column of its own, names would be broken in a terminal of 80 columns.
    table.add_column("queue and verdict", no_wrap=True, overflow="ignore")
    for side in SIDES:
        table.add_column(side, justify="right")
    for queue in result.queues:
        cells = ["\n".join(_terms(queue, terms)) for terms in SIDES.values()]
        table.add_row(Text("\n").join([Text(queue.queue), *_verdict(queue)]), *cells)
    return table


def _terms(queue: Queue, names: dict[str, str]) -> Iterator[str]:
    for term, name in names.items():
        if number := getattr(queue, term):
            # The topic records its sends, and nothing how each came into a subscription.
            from_topic = term == "unrecorded_in" and is_subscription(queue)
            yield f"{number:,} {'from its topic' if from_topic else name}"


def _verdict(queue: Queue) -> list[Text]:
    """The verdict in lines that are no longer than names usually are."""
    text, style = queue.verdict, "green" if queue.verdict in PROVED else ""
    if not queue.balanced:
        text, style = f"{queue.verdict}: {queue.faults:,} faults", "bold red"
    return [Text(line, style=style) for line in textwrap.wrap(text, VERDICT_WIDTH)]


def _rules_table(broken: list[RuleResult]) -> Table:
    gravest = next(word for word in TITLES if any(rule.severity == word for rule in broken))
    table = Table(title=TITLES[gravest], title_justify="left")
    for name in ("rule", "meaning", "queues", "for example"):
        table.add_column(name, overflow="fold")
    table.add_column("count", justify="right")
    for rule in broken:
        style = "bold red" if rule.severity == "error" else "yellow"
        samples = "\n".join(_sample(sample) for sample in rule.rows)
        table.add_row(
            *(Text(rule.name, style=style), rule.meaning, Text(", ".join(rule.queues))),
            *(Text(printable(samples)), f"{rule.count:,}"),
        )
    return table


def _sample(sample: Sample) -> str:
    return f"{sample.message_id}: {sample.seen}" if sample.message_id is not None else sample.seen


def proved(result: AuditResult) -> str:
    """How much was proved by digest, and how much by row."""
    if not result.coverage:
        return "every row of the journal was looked at"
    by_digest, by_row, sampled = (
        sum(getattr(line, name) for line in result.coverage) for name in ("by_digest", "by_row", "sampled")
    )
    sample = f", of which {sampled:,} are a sample" if sampled else ""
    return f"{by_digest:,} ranges of message numbers by digest, {by_row:,} by row{sample}"


def _summary(result: AuditResult) -> Text:
    counts = {name: count for name, count in result.rows.items() if name != "destinations" and count}
    names = {name: "journal rows" if name == "journal" else name for name in counts}
    rows = ", ".join(f"{n:,} {names[name] if n > 1 else names[name].removesuffix('s')}" for name, n in counts.items())
    first = headline(result)
    text = Text(first.verdict, style=STYLES[first.kind])
    facts = f" {len(result.rules)} rules over what one snapshot has: {rows}. It took {result.seconds:.1f} s."
    text.append(facts, style="not bold default")
    text.append(f" Proved: {proved(result)}." if result.coverage else "", style="not bold default")
    return text.append(f"\n{first.advice}", style="not bold default") if first.advice else text
