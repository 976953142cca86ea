"""What a handler can want done with a message it cannot handle: reject it, or try again after a time of its choosing.

``raise Reject(…)`` and ``raise Retry(…)`` say it for one message. Rules say it for classes of exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from ..errors import BadArgument

AFTER_MAX = 3155760000.0
"""Seconds, 100 years: what record_failure takes."""


class Outcome(Exception):
    """What becomes of a message that was not handled. A handler raises it, or a rule names it."""

    #: Why, for the incident's details; None: the error behind it says enough.
    reason: str | None = None

    def __init__(self, reason: object = None) -> None:
        super().__init__(*(() if reason is None else (reason,)))
        self.reason = None if reason is None else str(reason)

    def as_failure(self) -> dict[str, Any]:
        """The keys of record_failures that say it."""
        return {}


class Reject(Outcome):
    """Make no more tries: the message is treated at once as if it had reached its queue's limit."""

    def __str__(self) -> str:
        return self.reason or "the handler rejected the message"

    def as_failure(self) -> dict[str, Any]:
        return {"reject": True}


class Retry(Outcome):
    """Roll back, count a failed delivery and deliver again after ``after`` seconds; None: after the queue's delay."""

    #: Seconds; 0 means at once, whatever the queue's delay.
    after: float | None = None

    def __init__(self, after: float | timedelta | None = None, reason: object = None) -> None:
        super().__init__(reason)
        self.after = _seconds(after)

    def __str__(self) -> str:
        return self.reason or "the handler asked for another delivery"

    def as_failure(self) -> dict[str, Any]:
        return {} if self.after is None else {"delay_ms": round(self.after * 1000)}


def _seconds(after: object) -> float | None:
    if after is None:
        return None
    seconds = after.total_seconds() if isinstance(after, timedelta) else after
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= AFTER_MAX:
        raise BadArgument(f"after must be 0 or more seconds, up to 100 years, not {after!r}")
    return float(seconds)


#: The outcome of a rule as callers write it: a class, an object with a reason or a delay, or a word.
Wanted = type[Outcome] | Outcome | str
Rule = tuple[type[BaseException] | tuple[type[BaseException], ...], Wanted]
_WORDS: dict[str, type[Outcome]] = {"reject": Reject, "retry": Retry}


class Rules:
    """Outcomes by class of exception: the rule of the most specific class decides, by the order of inheritance."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        """Raises BadArgument for an invalid rule, and for two rules of one class."""
        self._outcomes: dict[type, Outcome] = {}
        if isinstance(rules, str | bytes) or not isinstance(rules, Iterable):
            raise BadArgument(f"rules must be a list of (exception class, outcome), not {rules!r}")
        for rule in rules:
            if not isinstance(rule, tuple) or len(rule) != 2:
                raise BadArgument(
                    f"a rule is a pair of exception class and outcome, not {rule!r}",
                    "Such as (ValueError, Reject) or (TimeoutError, Retry(after=30)).",
                )
            classes, wanted = rule
            outcome = _outcome(wanted)
            for cls in classes if isinstance(classes, tuple) else (classes,):
                self._add(cls, outcome)

    def _add(self, cls: Any, outcome: Outcome) -> None:
        if not isinstance(cls, type) or not issubclass(cls, BaseException):
            raise BadArgument(f"a rule is for a class of exceptions, not for {cls!r}")
        if issubclass(cls, Outcome):
            raise BadArgument(f"{cls.__name__} is an outcome itself and needs no rule")
        if cls in self._outcomes:
            raise BadArgument(f"there are two rules for {cls.__name__}")
        self._outcomes[cls] = outcome

    def of(self, error: BaseException) -> Outcome | None:
        """The outcome that the rules name for an error; None: the queue's policy."""
        if not self._outcomes:
            return None
        return next((self._outcomes[cls] for cls in type(error).__mro__ if cls in self._outcomes), None)


def _outcome(wanted: Any) -> Outcome:
    if isinstance(wanted, str) and wanted in _WORDS:
        return _WORDS[wanted]()
    if isinstance(wanted, type) and issubclass(wanted, Reject | Retry):
        return wanted()
    if isinstance(wanted, Reject | Retry):
        return wanted
    raise BadArgument(
        f"{wanted!r} is not an outcome", "Outcomes are Reject, Retry, Retry(after=seconds), 'reject' and 'retry'."
    )


def decide(error: BaseException, rules: Rules | None = None) -> Outcome | None:
    """What becomes of the message. What the handler raised wins over the rules. None: the queue's policy."""
    if isinstance(error, Outcome):
        return error
    return rules.of(error) if rules is not None else None


def cause_of(outcome: Outcome) -> BaseException | None:
    """The error because of which an outcome was raised."""
    return outcome.__cause__ or (None if outcome.__suppress_context__ else outcome.__context__)
