"""What all of Howdah's exceptions are, and the text of anybody's."""

from __future__ import annotations


class HowdahError(Exception):
    """Howdah refused something or could not do it."""

    sqlstate: str | None = None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


def safe_str(error: BaseException) -> str:
    """Return an error's text. Never raises itself."""
    try:
        return str(error)
    except Exception as unprintable:  # noqa: BLE001 - __str__ may do anything
        return f"(its text cannot be had: {type(unprintable).__name__})"
