"""The demo's report: compare the database with the file, and say in plain words what that proves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..output import printable
from .flights import COMPENSATED_MINUTES, SUBSCRIPTIONS, TRIES
from .run import Run

CARRIERS = 5
CAUSES = 5
"""Number of carriers and of causes shown."""


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
    few = {row for row, count in outcome.incidents.items() if count < expected.unusable.get(row, 0)}
    # A killed process's message may come once more before its supervisor has counted the failure.
    over = {row for row, count in outcome.incidents.items() if count > expected.unusable.get(row, 0)}
    usable = expected.flights - len(expected.unusable)
    handled = sum(flights for flights, _, _ in outcome.totals.values())
    return [
        Check(
            "flights sent = handled + set aside as failed",
            outcome.sent == expected.flights == outcome.consumed + len(outcome.dead),
            f"{outcome.sent:,} = {outcome.consumed:,} + {len(outcome.dead):,}",
        ),
        Check("nothing is left in the queue", outcome.left == 0, f"{outcome.left:,} left"),
        Check(
            "no flight was handled twice",
            handled == outcome.different == outcome.consumed == outcome.consumed_distinct == usable,
            f"{outcome.different:,} different flights, {handled:,} rows",
        ),
        Check(
            "every airline's delays add up as in the file, to the minute",
            not wrong,
            f"{len(outcome.totals)} airlines" if not wrong else f"wrong: {', '.join(sorted(wrong))}",
        ),
        Check(
            "the flights set aside are the unusable ones of the file",
            outcome.dead == expected.unusable.keys(),
            f"{len(outcome.dead):,} of {len(expected.unusable):,}",
        ),
        Check(
            f"each has all its failed tries on record: 1 if cancelled, else {TRIES}",
            not few and len(over) <= outcome.killed_in_handler,
            f"{sum(outcome.incidents.values()):,} failed tries",
        ),
        Check(
            "the causes of failure account for all of them",
            sum(cause["dead"] for cause in outcome.causes) == len(outcome.dead),
            f"{len(outcome.causes)} causes",
        ),
        *(told(run, name) for name in SUBSCRIPTIONS),
    ]


def told(run: Run, name: str) -> Check:
    """Check that a subscriber of the topic got each of its flights exactly once."""
    all_of_them = SUBSCRIPTIONS[name] is None
    expected = {row: delay for row, delay in run.expected.late.items() if all_of_them or delay > COMPENSATED_MINUTES}
    flights, minutes = run.outcome.told.get(name, ([], 0))
    return Check(
        f"subscriber {name} got every late flight{'' if all_of_them else f' with {SUBSCRIPTIONS[name]}'}, once",
        sorted(flights) == sorted(expected) and minutes == sum(expected.values()),
        f"{len(flights):,} of {len(expected):,}",
    )


def show(console: Console, run: Run, statements: list[Check]) -> None:
    """Print the result for the largest airlines, the checks, and why flights failed."""
    totals = sorted(run.outcome.totals.items(), key=lambda item: -item[1][0])
    airlines = _table(f"Mean delay in minutes, the {min(CARRIERS, len(totals))} largest airlines", "airline")
    for heading in ("flights", "departure", "arrival"):
        airlines.add_column(heading, justify="right")
    for carrier, (flights, departure, arrival) in totals[:CARRIERS]:
        airlines.add_row(carrier, f"{flights:,}", f"{departure / flights:.1f}", f"{arrival / flights:.1f}")
    table = _table("Compared with the file", "", "statement", "found")
    for check in statements:
        table.add_row("[green]yes[/]" if check.holds else "[red]NO[/]", check.statement, check.detail)
    for part in (airlines, table, _causes(run)):
        console.print(Padding(part, (0, 0, 0, 3), expand=False))


def _causes(run: Run) -> Table:
    """Why flights failed: a short form of ``howdah poison causes``."""
    causes = _table("Why flights failed")
    for heading in ("failed tries", "flights"):
        causes.add_column(heading, justify="right")
    causes.add_column("error, for example")
    for cause in run.outcome.causes[:CAUSES]:
        error = ": ".join(filter(None, (cause["error_class"], cause["sample_text"])))
        causes.add_row(f"{cause['incidents']:,}", f"{cause['messages']:,}", Text(printable(error)))
    return causes


def _table(title: str, *headings: str) -> Table:
    return Table(*headings, title=title, title_justify="left", header_style="bold")


def proved(run: Run) -> Iterator[tuple[str, str]]:
    """Say what was proved, once all statements hold: a headline and a sentence each."""
    outcome = run.outcome
    usable, failed, tries = outcome.consumed, len(outcome.dead), sum(outcome.incidents.values())
    yield (
        "Nothing was lost.",
        f"{outcome.sent:,} flights were sent: {usable:,} are handled, and {failed:,} are set aside.",
    )
    yield (
        "Nothing was done twice.",
        f"The workers wrote {usable:,} rows, each for another flight"
        + (", though one of them was killed at work." if run.killed_pid is not None else "."),
    )
    yield (
        "No failure was forgotten.",
        f"Each of the {failed:,} unusable flights is kept with the errors of its tries, {tries:,} in all.",
    )
    flights = [f"{len(outcome.told.get(name, ([], 0))[0]):,}" for name in SUBSCRIPTIONS]
    yield (
        "Every subscriber got its copy.",
        f"{' and '.join(flights)} messages about late flights arrived at {len(flights)} subscribers, each once.",
    )
