"""The calls of sessions about messages held under leases; the server decides all else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..calls import Call, Seconds, interval, scalar, table
from ..calls.bodies import to_json
from ..calls.leases import Lease, leasing
from .holding import Delivery

CURRENT_TRANSACTION: Call[str] = Call("select pg_catalog.pg_current_xact_id()::text", (), lambda rows: str(rows[0][0]))


def lease_ahead(
    queue: str,
    max_messages: int,
    duration: Seconds,
    suspects: int,
    finished: Sequence[int],
    selector: str | None = None,
    consumer: int | None = None,
) -> Call[Lease | None]:
    """Lease messages that are delivered one after the other. ``suspects`` says how many may be in hand at a time."""
    return leasing(
        queue,
        "lease_ahead(%s::text, %s::integer, %s::interval, %s::integer, %s::bigint[], %s::text, %s::bigint)",
        (queue, max_messages, interval("duration", duration), suspects, list(finished), selector, consumer),
    )


def acknowledge_many(messages: Sequence[Delivery]) -> Call[int]:
    """Consume messages of one or several leases and queues, all or none, in one statement."""
    first = messages[0]
    ids = [message.message_id for message in messages]
    if all(message.lease == first.lease and message.queue == first.queue for message in messages):
        return scalar(
            "ack", queue=("text", first.queue), lease=("bigint", first.lease), message_ids=("bigint[]", ids)
        ).then(int)
    return scalar(
        "ack_many",
        queues=("text[]", [message.queue for message in messages]),
        leases=("bigint[]", [message.lease for message in messages]),
        message_ids=("bigint[]", ids),
    ).then(int)


def acknowledge_interval(queue: str, leases: Sequence[int], first: int, last: int) -> Call[int]:
    """Consume what these leases hold from one message to another."""
    return scalar(
        "ack_interval",
        queue=("text", queue),
        leases=("bigint[]", list(leases)),
        first_message_id=("bigint", first),
        last_message_id=("bigint", last),
    ).then(int)


def renew(held: Sequence[tuple[str, int]], duration: Seconds) -> Call[set[int]]:
    """Extend leases, given as (queue, number). The result is the leases that still exist."""
    return Call(
        "select howdah.renew_leases(%s::text[], %s::bigint[], %s::interval)",
        ([queue for queue, _ in held], [number for _, number in held], interval("duration", duration)),
        lambda rows: {row[0] for row in rows},
    )


def redeliver(
    queue: str, messages: Sequence[Delivery], duration: Seconds, why: Mapping[str, str]
) -> Call[Lease | None]:
    """Count a failed delivery of each and lease them anew; those that the queue's policy takes away are left out."""
    return leasing(
        queue,
        "redeliver(%s::text, %s::bigint[], %s::bigint[], %s::interval, %s::text, %s::text)",
        (
            queue,
            sorted({message.lease for message in messages}),
            [message.message_id for message in messages],
            interval("duration", duration),
            why["error_text"],
            why["error_class"],
        ),
    )


def end_leases(
    queue: str, leases: Sequence[int], delivered: Sequence[Delivery], why: Mapping[str, str]
) -> Call[list[dict[str, Any]]]:
    """Give back all that leases still have. Only delivered messages have failed."""
    return table(
        "end_leases",
        "message_id, attempt, outcome",
        queue=("text", queue),
        leases=("bigint[]", list(leases)),
        delivered=("bigint[]", [message.message_id for message in delivered]),
        error_text=("text", why["error_text"]),
        error_class=("text", why["error_class"]),
    )


def give_back(queue: str, messages: Sequence[Delivery]) -> Call[list[dict[str, Any]]]:
    """Give back messages that were neither delivered nor lost."""
    return table(
        "end_leases",
        "message_id, attempt, outcome",
        queue=("text", queue),
        leases=("bigint[]", sorted({message.lease for message in messages})),
        message_ids=("bigint[]", [message.message_id for message in messages]),
    )


def report_slow_consumer(queue: str, facts: Mapping[str, Any]) -> Call[None]:
    """Tell administrators of a consumer that holds all it may."""
    return scalar("report_slow_consumer", queue=("text", queue), facts=("jsonb", to_json(facts))).then(lambda _: None)
