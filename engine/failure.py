"""What is recorded of a failed delivery."""

from __future__ import annotations

import traceback

from .errors import chain
from .message import Message

#: Characters kept of a text; more of a traceback that recursed ten thousand times helps nobody.
TEXT_LIMIT = 100_000


def failure_of(message: Message, error: BaseException) -> dict[str, object]:
    """What ``record_failures`` wants to know of a message and the error its handler raised. Never raises itself."""
    return {
        "message_id": message.message_id,
        "priority": message.priority,
        "position": message.position,
        "stage": message.stage,
        "conversation_id": str(message.conversation_id) if message.conversation_id else None,
        "error_class": type(error).__name__,
        "error_text": storable(_text_of(error)),
        "sqlstate": sqlstate_of(error),
        "traceback": storable(_traceback_of(error)),
    }


def sqlstate_of(error: BaseException) -> str | None:
    """The SQLSTATE of the error, or of the database's error behind it."""
    for current in chain(error):
        state = getattr(current, "sqlstate", None)
        if isinstance(state, str) and state:
            return storable(state)
    return None


def storable(text: str) -> str:
    """A text that any UTF-8 database takes: without NUL and lone surrogates, and not endless."""
    if len(text) > TEXT_LIMIT:
        half = TEXT_LIMIT // 2
        text = f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
    return text.replace("\x00", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as unprintable:  # noqa: BLE001 - __str__ may do anything
        return f"(its text cannot be had: {type(unprintable).__name__})"


def _traceback_of(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception as unprintable:  # noqa: BLE001 - __str__ may do anything
        return f"(its traceback cannot be had: {type(unprintable).__name__})"
