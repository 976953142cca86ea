"""An audit's headline: whether every message is accounted for, and for how many queues that is proved."""

from __future__ import annotations

from dataclasses import dataclass

from .identity import PROOFS, PROVED
from .result import AuditResult, Queue

RAISE = {
    "queue": "howdah queue alter NAME -o journal_level=full",
    "topic": "howdah topic alter NAME -o journal_level=full",
    "subscription": "howdah subscription alter NAME -o journal_level=exits",
}
"""The command that makes Howdah record more from then on, by what is missing."""

TEMPORARY = "_TEMP."
"""How names of temporary queues begin. One without messages concerns nobody."""


@dataclass(frozen=True)
class Headline:
    """The verdict in a sentence, its kind (good, warn or bad), and what can be done about a weak one, if anything."""

    verdict: str
    kind: str
    advice: str = ""


def headline(result: AuditResult) -> Headline:
    """The headline of a result. Only what was proved of every queue is good."""
    if not result.ok:
        return Headline(f"Not every message is accounted for: {_number(result, 'error')} broken.", "bad")
    warnings = _number(result, "warning", "warning") if any(_broken(result, "warning")) else ""
    judged = [queue for queue in result.queues if _is_judged(queue)]
    weak = [queue for queue in judged if queue.verdict not in PROVED]
    proved = len(judged) - len(weak)
    if not weak:
        return Headline(
            f"Every message is accounted for{f', with {warnings}' if warnings else ''}.", "warn" if warnings else "good"
        )
    rest = "the other one" if len(weak) == 1 else f"the other {len(weak):,}"
    said = (
        f"Every message is accounted for in {proved:,} of {len(judged):,} queues; in {rest} a lost message would not"
        " show, for their sends are not on record"
    )
    short = {_short(queue) for queue in weak}
    advice = ", ".join(command for what, command in RAISE.items() if what in short)
    return Headline(
        f"{said}{f'; {warnings}' if warnings else ''}.", "warn", f"To have them recorded from now on: {advice}"
    )


def is_subscription(queue: Queue) -> bool:
    """Whether it is a subscription: only their names have a colon."""
    return ":" in queue.queue


def _is_judged(queue: Queue) -> bool:
    """Whether more could be recorded of it. Nothing records what a subscription had to choose."""
    return queue.verdict != PROOFS["chosen"] and (queue.messages > 0 or not queue.queue.startswith(TEMPORARY))


def _short(queue: Queue) -> str:
    """What must record more before this one is proved."""
    if not is_subscription(queue):
        return "queue"
    return "subscription" if queue.verdict == PROOFS["off"] else "topic"


def _broken(result: AuditResult, severity: str) -> list[str]:
    return [rule.name for rule in result.rules if rule.count and rule.severity == severity]


def _number(result: AuditResult, severity: str, noun: str = "rule") -> str:
    number = len(_broken(result, severity))
    return f"{number} {noun}{'s' if number != 1 else ''}"
