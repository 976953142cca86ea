"""The options of consumers that receive ahead, for code that passes them on. A test holds them to ``AckSession``."""

from __future__ import annotations

from typing import TypedDict


class SubscriberOptions(TypedDict, total=False):
    """As of ``AckSession.subscriber``."""

    selector: str | None
    client_id: str | None
    no_local: bool
    prefetch: int | None
    optimize_acknowledge: bool | None


class ConsumerOptions(TypedDict, total=False):
    """As of ``AckSession.consumer``."""

    selector: str | None
    prefetch: int | None
    optimize_acknowledge: bool | None
    exclusive: bool | None
    priority: int | None
