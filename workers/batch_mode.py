"""The modes of handling a batch of messages, and the outcome of a batch.

A batch is handled in one of four modes:

- *together*: one receive, one handler call after another, one commit, which receives the next batch in the same round
  trip. The first error rolls its batch back, and its message is recorded as failed.
- *apart*: the batch is only locked at first and each handler runs in a savepoint. Failures are recorded and the queue's
  policy is applied to their messages; the others are consumed, and all is committed. This mode follows a batch that
  failed together, for as long as batches go on failing. So innocent messages are neither blamed nor handled one by one.
- *singly*: one message a transaction, after a commit failed (a deferred constraint, say) and could blame nobody.
- *hardened*: one message a transaction, after another one that put the attempt on record. Only hardened queues use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..engine import Message

APART_MAX = 60
"""Largest batch with savepoints: a transaction of over 64 subtransactions slows every snapshot down."""


class BatchMode(Enum):
    """How the next batch is handled."""

    TOGETHER = "together"
    APART = "apart"
    SINGLY = "singly"
    HARDENED = "hardened"


@dataclass
class Done:
    """What one pass did."""

    handled: int = 0
    failed: int = 0
    #: Why a message is to be tried again although it is not to blame.
    again: BaseException | None = None


class Blamed(Exception):
    """A handler failed on this message."""

    def __init__(self, message: Message, failure: dict[str, Any]) -> None:
        super().__init__(failure["error_text"])
        self.message = message
        self.failure = failure
        #: What was counted in hand, as ``Receiver._count`` returns it. None: the failure is not on record yet.
        self.to_settle: list[Message] | None = None


class GivenBack(Exception):
    """The batch is rolled back unhandled, and nobody is to blame."""
