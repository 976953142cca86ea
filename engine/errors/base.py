"""What all of Howdah's exceptions are."""

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
