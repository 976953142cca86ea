"""The demo's report: compare the database with the file."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..output import printable
from .flights import COMPENSATED_MINUTES, SUBSCRIPTIONS
from .run import Run

CAUSES = 10
"""Number of carriers shown."""


@dataclass(frozen=True)
class Check:
    """One statement that must hold."""

    statement: str
    holds: bool
    detail: str


def checks(run: Run) -> list[Check]:
    """Return every statement that must hold, compared with the file."""
    expected, outcome = run.expected, run.outcome
    wrong = {
        carrier
        for carrier in expected.totals.keys() | outcome.totals.keys()
        if expected.totals.get(carrier) != outcome.totals.get(carrier)
    }
    few = {row for row, count in outcome.incidents.items() if count < 5}
    # A killed process's message may come once more before its supervisor has counted the failure.
    over = {row for row, count in outcome.incidents.items() if count > 5}
    usable = expected.flights - len(expected.unusable)
    return [
        Check(
            "delays of every carrier add up to the file's, to the minute",
            not wrong,
            f"{len(outcome.totals)} carriers" if not wrong else f"wrong: {', '.join(sorted(wrong))}",
        ),
        Check(
            "every unusable flight is dead, and no other",
            outcome.dead == expected.unusable,
            f"{len(outcome.dead):,} of {len(expected.unusable):,}",
        ),
        Check(
            "each dead flight has its five failed deliveries on record",
            not few and len(over) <= outcome.killed_in_handler,
            f"{sum(outcome.incidents.values()):,} incidents",
        ),
        Check(
            "sent = consumed + dead",
            outcome.sent == expected.flights == outcome.consumed + len(outcome.dead),
            f"{outcome.sent:,} = {outcome.consumed:,} + {len(outcome.dead):,}",
        ),
        Check(
            "nothing was consumed twice",
            outcome.consumed == outcome.consumed_distinct == usable,
            f"{outcome.consumed_distinct:,} distinct",
        ),
        Check(
            "the causes of failure account for every dead flight",
            sum(cause["dead"] for cause in outcome.causes) == len(outcome.dead),
            f"{len(outcome.causes)} causes",
        ),
        *(told(run, name) for name in SUBSCRIPTIONS),
        Check("nothing is left in the queue", outcome.left == 0, f"{outcome.left} left"),
    ]


def told(run: Run, name: str) -> Check:
    """Check that a subscriber of the topic got each of its flights exactly once."""
    all_of_them = SUBSCRIPTIONS[name] is None
    expected = {row: delay for row, delay in run.expected.late.items() if all_of_them or delay > COMPENSATED_MINUTES}
    flights, minutes = run.outcome.told.get(name, ([], 0))
    return Check(
        f"subscription {name} got every late flight{'' if all_of_them else f' of {SUBSCRIPTIONS[name]}'}, once",
        sorted(flights) == sorted(expected) and minutes == sum(expected.values()),
        f"{len(flights):,} of {len(expected):,}",
    )


def show(console: Console, run: Run, statements: list[Check]) -> None:
    """Print carriers and checks."""
    carriers = Table(title="Mean delay by carrier, in minutes", title_justify="left", header_style="bold")
    carriers.add_column("carrier")
    for heading in ("flights", "departure", "arrival"):
        carriers.add_column(heading, justify="right")
    for carrier, (flights, departure, arrival) in sorted(run.outcome.totals.items(), key=lambda item: -item[1][0]):
        carriers.add_row(carrier, f"{flights:,}", f"{departure / flights:.1f}", f"{arrival / flights:.1f}")
    console.print(carriers)
    table = Table(title="Checked against the file", title_justify="left", header_style="bold")
    for heading in ("", "statement", "found"):
        table.add_column(heading)
    for check in statements:
        table.add_row("[green]yes[/]" if check.holds else "[red]NO[/]", check.statement, check.detail)
    console.print(table)
    show_causes(console, run)
    killed = run.outcome.killed_in_handler
    if run.killed_pid is not None:
        console.print(
            f"  Worker process {run.killed_pid} was killed on the way: "
            + (
                f"{killed} flight(s) inside a handler went back with an incident for it."
                if killed
                else "no flight was inside a handler."
            )
        )


def show_causes(console: Console, run: Run) -> None:
    """Print why flights are dead: a short form of ``howdah poison causes``."""
    causes = Table(title="Top causes of the dead flights", title_justify="left", header_style="bold")
    for heading in ("failures", "flights", "dead"):
        causes.add_column(heading, justify="right")
    causes.add_column("error, for example")
    causes.add_column("message", justify="right")
    for cause in run.outcome.causes[:CAUSES]:
        error = ": ".join(filter(None, (cause["error_class"], cause["sample_text"])))
        causes.add_row(
            f"{cause['incidents']:,}",
            f"{cause['messages']:,}",
            f"{cause['dead']:,}",
            Text(printable(error)),
            str(cause["sample_message"]),
        )
    console.print(causes)
