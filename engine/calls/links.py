"""What a forwarder carries from one engine to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from .bodies import to_json
from .call import Call, scalar

COLUMNS = (
    "name, source, target_queue, service, dsn_env, selector, state, holder, waiting, forwarded, cut, dropped,"
    " forwarded_at, away_since, last_error, error_at, batch_size, retry_ms_max, link_id, target_engine_id, loops,"
    " batch, created_at, created_by, transformation"
)
ARRIVAL_COLUMNS = (
    "engine, link, source, arrived, repeated, in_transit, arrived_at, batch, arrived_as, link_id, engine_id,"
    " created_at, lost"
)


@dataclass(frozen=True)
class Taken:
    """What ``link_take`` says: a state, where the target is, and with the state ``batch`` what is to be forwarded."""

    state: str
    link_id: UUID | None
    engine_id: UUID | None
    engine_name: str | None
    source: str | None
    target_queue: str | None
    batch: int | None
    attempt: UUID | None
    acknowledged: UUID | None
    taken: int | None
    messages: str | None
    service: str | None
    dsn_env: str | None
    retry_ms_max: int | None
    started: datetime | None


def take(name: str, holder: str, target: UUID | None = None, max_messages: int | None = None) -> Call[Taken]:
    """Become a link's forwarder; with a target, take its next batch too. The messages stay the text of their JSON."""
    return Call(
        "select state, link_id, engine_id, engine_name, source, target_queue, batch, attempt, acknowledged, taken,"
        " messages::text, service, dsn_env, retry_ms_max, started"
        " from howdah.link_take(%s::text, %s::text, %s::uuid, %s::integer)",
        (name, holder, target, max_messages),
        lambda rows: Taken(*rows[0]),
    )


def arrive(link: str, taken: Taken) -> Call[tuple[int, int]]:
    """Store a batch at the target. The result: how many are new, and how many had arrived before."""
    return Call(
        "select stored, repeated from howdah.link_arrive(%s::uuid, %s::uuid, %s::text, %s::text, %s::text, %s::text,"
        " %s::bigint, %s::uuid, %s::uuid, %s::json, %s::timestamptz)",
        (
            taken.link_id,
            taken.engine_id,
            taken.engine_name,
            link,
            taken.source,
            taken.target_queue,
            taken.batch,
            taken.attempt,
            taken.acknowledged,
            taken.messages,
            taken.started,
        ),
        lambda rows: (rows[0][0], rows[0][1]),
    )


def away(name: str, holder: str, error: str | None = None) -> Call[bool]:
    """Give a link up for now. The result: whether it was not known to be away."""
    return scalar("link_away", name=("text", name), holder=("text", holder), error=("text", error)).then(bool)


def engine() -> Call[UUID]:
    """The identity of the engine that a forwarder has connected to."""
    return Call("select engine_id from howdah.link_engine()", (), lambda rows: rows[0][0])


def record_refused(queue: str, failures: Sequence[dict[str, Any]]) -> Call[list[str]]:
    """Record that messages were refused at the target. The result: what becomes of each."""
    return Call(
        "select outcome from howdah.record_failures(%s::text, %s::jsonb)",
        (queue, to_json([*failures])),
        lambda rows: [row[0] for row in rows],
    )
