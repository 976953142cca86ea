"""The calls that record failures and apply the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .bodies import to_json
from .call import Call, scalar
from .message import Message
from .receiving import keys


@dataclass(frozen=True, slots=True)
class Incident:
    """The outcome of a recorded failure: its number among the message's failures, and what followed."""

    message_id: int
    incident_id: int
    attempt: int
    #: returned, delayed, blocked, moved, discarded, quarantined, ended, held or gone.
    outcome: str


def record_failures(
    queue: str, failures: Sequence[Mapping[str, Any]], *, in_hand: bool = False, listener: str | None = None
) -> Call[list[Incident]]:
    """Record failed deliveries outside the failed transaction. Keys are the arguments of howdah.record_failure.

    in_hand: the receiving transaction is still open; call ``settle_failures`` afterwards. listener: what received
    them, which counts them too.
    """
    function, name = ("record_failures", queue) if listener is None else ("record_failures_as", listener)
    return Call(
        f"select message_id, incident_id, attempt, outcome from howdah.{function}(%s::text, %s::jsonb, %s::boolean)",
        (name, to_json([dict(failure) for failure in failures]), in_hand),
        lambda rows: [Incident(*row) for row in rows],
    )


def handled_as(listener: str) -> Call[None]:
    """Reset the listener's failure counter, in the receiving transaction just before its commit."""
    return scalar("handled_as", listener=("text", listener)).then(lambda _: None)


def settle_failures(queue: str, messages: Sequence[Message]) -> Call[dict[int, str]]:
    """Apply the queue's policy to messages whose failures were recorded in hand. Returns outcomes by message id."""
    return Call(
        "select message_id, outcome from howdah.settle_failures(%s::text, %s::bigint[], %s::integer[], %s::bigint[])",
        (queue, *keys(messages)),
        lambda rows: {message_id: outcome for message_id, outcome in rows},
    )
