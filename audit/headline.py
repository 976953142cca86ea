"""What an audit says first: whether every message is accounted for, and of how many queues that was proved."""

from __future__ import annotations

from dataclasses import dataclass

from .result import AuditResult

RAISE = "howdah queue alter NAME -o journal_level=full"
"""The command that has a queue's sends recorded from then on."""

TEMPORARY = "_TEMP."
"""How names of temporary queues begin; one without messages is nobody's concern."""


@dataclass(frozen=True)
class Headline:
    """The verdict in a sentence, its kind (good, warn or bad), and what to do about a weak one, where there is something."""

    verdict: str
    kind: str
    advice: str = ""


def headline(result: AuditResult) -> Headline:
    """The headline of a result. Only what was proved of every queue is good."""
    if not result.ok:
        return Headline(f"Not every message is accounted for: {_number(result, 'error')} broken.", "bad")
    warnings = _number(result, "warning", "warning") if any(_broken(result, "warning")) else ""
    judged = [queue for queue in result.queues if queue.messages or not queue.queue.startswith(TEMPORARY)]
    proved = sum(queue.verdict == "proved" for queue in judged)
    if proved == len(judged):
        return Headline(
            f"Every message is accounted for{f', with {warnings}' if warnings else ''}.", "warn" if warnings else "good"
        )
    others = len(judged) - proved
    rest = "the other one" if others == 1 else f"the other {others:,}"
    said = (
        f"Every message is accounted for in {proved:,} of {len(judged):,} queues; in {rest} a lost message would not show,"
        " for their sends are not on record"
    )
    return Headline(
        f"{said}{f'; {warnings}' if warnings else ''}.", "warn", f"To have them recorded from now on: {RAISE}"
    )


def _broken(result: AuditResult, severity: str) -> list[str]:
    return [rule.name for rule in result.rules if rule.count and rule.severity == severity]


def _number(result: AuditResult, severity: str, noun: str = "rule") -> str:
    number = len(_broken(result, severity))
    return f"{number} {noun}{'s' if number != 1 else ''}"
