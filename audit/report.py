"""An audit's result for people, in the terminal, and for machines."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

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
TITLES = {"error": "Broken rules", "warning": "Warnings", "notice": "Notices"}
"""By the gravest of the rules that are broken."""


def print_report(result: AuditResult, console: Console | None = None) -> None:
    """Print the identity of each queue, the rules that are broken, what the page says in short, and the verdict."""
    out = console or Console()
    out.print(_identity_table(result))
    broken = [rule for rule in result.rules if not rule.passed]
    if broken:
        out.print(_rules_table(broken))
    for line in result.highlights:
        out.print(Text(f"  {line}"))
    out.print(_summary(result))
    if result.page is not None:
        out.print(Text(f"The page: {result.page}"))


def to_dict(result: AuditResult) -> dict[str, Any]:
    """The result in types that JSON knows."""
    return result.to_dict()


def _identity_table(result: AuditResult) -> Table:
    """A row for each queue; each side of its identity names the terms that are not 0, one a line."""
    table = Table(title=f"Every message at {result.taken_at}", title_justify="left", show_lines=True)
    table.add_column("queue", overflow="fold")
    for side in SIDES:
        table.add_column(side, justify="right", no_wrap=True)
    table.add_column("verdict")
    for queue in result.queues:
        cells = [
            "\n".join(f"{getattr(queue, term):,} {name}" for term, name in terms.items() if getattr(queue, term))
            for terms in SIDES.values()
        ]
        table.add_row(Text(queue.queue), *cells, _verdict(queue))
    return table


def _verdict(queue: Queue) -> Text:
    if not queue.balanced:
        return Text(f"{queue.verdict}: {queue.faults:,} faults", style="bold red")
    return Text(queue.verdict, style="green" if queue.verdict == "proved" else "")


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
            Text(rule.name, style=style), rule.meaning, Text(", ".join(rule.queues)), samples, f"{rule.count:,}"
        )
    return table


def _sample(sample: Sample) -> str:
    return f"{sample.message_id}: {sample.seen}" if sample.message_id is not None else sample.seen


def _summary(result: AuditResult) -> Text:
    rows = ", ".join(f"{count:,} {name}" for name, count in result.rows.items() if name != "destinations")
    warnings = sum(1 for rule in result.rules if rule.count and rule.severity == "warning")
    verdict = "Every message is accounted for" if result.ok else "Not every message is accounted for"
    if result.ok and warnings:
        verdict += f" ({warnings} warning{'s' if warnings > 1 else ''})"
    text = Text(f"{verdict}.", style="bold green" if result.ok else "bold red")
    facts = f" {len(result.rules)} rules over {rows}, in one snapshot, {result.seconds:.1f} s."
    return text.append(facts, style="not bold default")
