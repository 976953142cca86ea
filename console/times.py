"""Times and numbers that people write."""

from __future__ import annotations

from datetime import datetime

from ..engine.errors import BadArgument

_HINT = "Write it with its zone, as 2026-01-31T06:00:00Z or 2026-01-31T06:00:00+01:00."


def moment(given: str | None) -> datetime | None:
    """The time that was written; None for nothing. Raises BadArgument if it is no time or lacks a zone."""
    if not given:
        return None
    try:
        found = datetime.fromisoformat(given)
    except ValueError as error:
        raise BadArgument(f"{given!r} is no time", _HINT) from error
    if found.tzinfo is None:
        raise BadArgument(f"{given!r} has no zone", _HINT)
    return found


def whole(given: str) -> int | None:
    """The whole number that was written, if the database has such numbers."""
    try:
        found = int(given)
    except ValueError:
        return None
    return found if abs(found) < 2**63 else None
