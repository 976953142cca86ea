"""Audits a link: whether what its sender forwarded is what arrived, but for what is in transit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import psycopg

from ...engine.calls import Call
from ...engine.database.runner import run
from .target import in_order


@dataclass(frozen=True)
class Sent:
    """What the sender says."""

    link_id: UUID
    forwarded: int
    batch: int
    attempt: UUID | None
    gone: list[int]


@dataclass(frozen=True)
class Arrived:
    """What the target says."""

    arrived: int
    batch: int
    of_attempt: int
    in_transit: list[int]
    missing: list[int]
    may_be_lost: list[int]
    lost: int


@dataclass(frozen=True)
class LinkAudit:
    """Both sides of a link at one time, and what does not fit."""

    link: str
    forwarded: int
    arrived: int
    in_transit: int
    lost: int
    findings: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return asdict(self)


def audit_link(link: str, source_dsn: str, target_conninfo: str) -> LinkAudit:
    """Read both engines while no batch is under way: first the sender, then the target, each in one snapshot."""
    with (
        in_order(psycopg.connect(source_dsn)) as source,
        in_order(psycopg.connect(target_conninfo)) as target,
    ):
        run(source, Call("select howdah.hold_link(%s::text)", (link,), len))
        sent = run(source, _sent(link, [], []))
        arrived = run(target, _arrived(sent))
        target.rollback()
        sent = run(source, _sent(link, arrived.in_transit, arrived.may_be_lost))
        source.rollback()
    return LinkAudit(
        link, sent.forwarded, arrived.arrived, len(arrived.in_transit), arrived.lost, _findings(sent, arrived)
    )


def _findings(sent: Sent, arrived: Arrived) -> list[str]:
    """What does not fit."""
    found = []
    if arrived.batch - sent.batch not in (0, 1):
        found.append(f"batch {sent.batch} was the last one sent, and batch {arrived.batch} the last one that arrived")
    under_way, lost = len(arrived.in_transit), arrived.lost
    if arrived.arrived != sent.forwarded + under_way + lost:
        found.append(
            f"{arrived.arrived} arrived, but {sent.forwarded} were forwarded, {under_way} are in transit"
            f" and {lost} were lost at the sender"
        )
    if sent.gone:
        found.append(f"{len(sent.gone)} in transit have left their queue otherwise, such as {sent.gone[0]}")
    if arrived.missing:
        found.append(f"{len(arrived.missing)} that arrived are missing at the target, such as {arrived.missing[0]}")
    return found


def _sent(link: str, in_transit: list[int], may_be_lost: list[int]) -> Call[Sent]:
    return Call(
        "select link_id, forwarded, batch, attempt, gone from howdah.link_sent(%s::text, %s::bigint[], %s::bigint[])",
        (link, in_transit, may_be_lost),
        lambda rows: Sent(*rows[0]),
    )


def _arrived(sent: Sent) -> Call[Arrived]:
    return Call(
        "select arrived, batch, of_attempt, in_transit, missing, may_be_lost, lost"
        " from howdah.link_arrived(%s::uuid, %s::uuid)",
        (sent.link_id, sent.attempt),
        lambda rows: Arrived(*rows[0]),
    )
