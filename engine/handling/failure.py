"""What is recorded of a failed delivery."""

from __future__ import annotations

import traceback
from collections.abc import Iterable

from .. import calls
from ..calls import Call, Incident
from ..calls.message import Message
from ..errors import blamed, chain, is_innocent, safe_str
from ..tracing.headers import readable
from ..tracing.points import identity_of
from .outcomes import Outcome, Rule, Rules, cause_of, decide

#: How many characters of a text are kept. More of a very deep traceback helps nobody.
TEXT_LIMIT = 100_000


def failure_of(
    message: Message, error: BaseException, rules: Rules | None = None, max_redeliveries: int | None = None
) -> dict[str, object]:
    """What ``record_failures`` wants to know of a message and the error its handler raised. Never raises itself.

    max_redeliveries: the connection's limit, as ActiveMQ's clients have. The failure after so many redeliveries
    rejects the message, whatever the queue's limit. None: the queue's alone.

    If an outcome (Reject, Retry) was raised because of another error, class, text and SQLSTATE are that error's. The
    outcome's reason is in the details. For a group of errors, they are those of the first error to blame.
    """
    outcome = decide(error, rules)
    told = error
    if isinstance(error, Outcome):
        told = cause_of(error) or error
    told = blamed(told)
    failure: dict[str, object] = {
        "message_id": message.message_id,
        "priority": message.priority,
        "position": message.position,
        "stage": message.stage,
        "conversation_id": str(message.conversation_id) if message.conversation_id else None,
        "message_group": _group_of(message),
        "error_class": type(told).__name__,
        "error_text": text_of(told),
        "sqlstate": sqlstate_of(told),
        # Also add the outcome's text: cause first, then reason.
        "traceback": storable(_traceback_of(error)),
    }
    details = identity_of(message)
    if outcome is not None:
        failure |= outcome.as_failure()
        if outcome.reason is not None:
            details["reason"] = storable(outcome.reason)
    if details:
        failure["details"] = details
    if max_redeliveries is not None and message.delivery_count > max_redeliveries:
        failure["reject"] = True
    return failure


def is_blamed(error: BaseException) -> bool:
    """Whether an error is a failed delivery: an outcome, or an error that is not innocent."""
    return isinstance(error, Outcome) or not is_innocent(error)


def recording(
    message: Message, error: BaseException, rules: Iterable[Rule] = (), max_redeliveries: int | None = None
) -> Call[Incident] | None:
    """Return the call that records an error as a failed delivery by these rules, or None if it blames no message."""
    checked = Rules(rules)
    if not is_blamed(error):
        return None
    call = calls.record_failures(message.queue, [failure_of(message, error, checked, max_redeliveries)])
    return call.then(lambda incidents: incidents[0])


def sqlstate_of(error: BaseException) -> str | None:
    """The SQLSTATE of the error, or of the database's error behind it. A group has that of its first error to blame."""
    for current in chain(error):
        if isinstance(current, BaseExceptionGroup):
            return next((state for state in map(_own_sqlstate, chain(blamed(current))) if state), None)
        if state := _own_sqlstate(current):
            return state
    return None


def _own_sqlstate(error: BaseException) -> str | None:
    state = getattr(error, "sqlstate", None)
    return storable(state) if isinstance(state, str) and state else None


def storable(text: str) -> str:
    """Return a text that any UTF-8 database takes: without NUL and lone surrogates, and of limited length."""
    if len(text) > TEXT_LIMIT:
        half = TEXT_LIMIT // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
    return text.replace("\x00", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def text_of(error: BaseException) -> str:
    """An error's text as it can be stored. Never raises itself."""
    return storable(safe_str(error))


def _group_of(message: Message) -> str | None:
    """The message group by its header; the database sees for itself unless the message is gone."""
    group = readable(message).get("JMSXGroupID")
    return storable(group) if isinstance(group, str) else None


def _traceback_of(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception as unprintable:  # noqa: BLE001 - __str__ may do anything
        return f"(its traceback cannot be had: {type(unprintable).__name__})"
