"""What a subscriber of a topic reads in Python."""

from __future__ import annotations

from typing import Any

from howdah.engine import Session


def bodies(session: Session, subscription: str, n: int = 100) -> list[Any]:
    """Receive and commit; the bodies."""
    with session.transaction():
        return [message.body for message in session.receive(subscription, n)]
