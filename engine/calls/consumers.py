"""Open consumers: who receives from a queue that tells its consumers apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .call import Call, Seconds, interval, scalar, table


def open_consumer(
    queue: str,
    *,
    exclusive: bool = False,
    priority: int = 0,
    own_session: bool = False,
    timeout: Seconds = 60,
    instance: str | None = None,
) -> Call[int | None]:
    """Register a consumer. The result is its number, or None for a shared subscription, which needs none.

    Raises ConsumerRefused if the queue takes only one consumer, SubscriptionInUse for an unshared one that is taken.

    exclusive: while it lives, others get nothing.
    own_session: it ends with the database session.
    timeout: seconds or a timedelta; the consumer ends when it neither received nor was in a transaction for so long.
    instance: the name of its home, with which it ends.
    """
    return scalar(
        "open_consumer",
        queue=("text", queue),
        exclusive=("boolean", exclusive),
        priority=("integer", priority),
        own_session=("boolean", own_session),
        timeout=("interval", interval("timeout", timeout)),
        instance=("text", instance),
    ).then(lambda number: None if number is None else int(number))


def renew_consumers(numbers: Sequence[int]) -> Call[set[int]]:
    """Keep consumers open that ask for no messages now. The result is those that are open."""
    return Call("select howdah.renew_consumers(%s::bigint[])", (list(numbers),), lambda rows: {row[0] for row in rows})


def close_consumer(consumer: int) -> Call[bool]:
    """End a consumer. The result is False if it was not open."""
    return scalar("close_consumer", consumer=("bigint", consumer)).then(bool)


def list_consumers(queue: str) -> Call[list[dict[str, Any]]]:
    """Return the open consumers of a queue in the order of their opening."""
    return table(
        "list_consumers",
        "consumer, active, exclusive, priority, own_session, groups, opened_at, opened_by, seen_at, instance",
        queue=("text", queue),
    )
