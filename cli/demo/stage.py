"""The demo's database, created anew beside the user's own, and its figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from ...engine import Admin, Session
from ...engine.errors import cannot_connect
from ...migrations import migrate
from ...text.dsn import canonical
from .flights import HANDLED, QUEUE, SUBSCRIPTIONS, TABLE, TOLD, TOPIC, TOTALS

DATABASE = "howdah_demo"


@dataclass(frozen=True)
class Progress:
    """Progress of the flights: in the queue or waiting for their next try, handled, set aside as failed."""

    waiting: int
    handled: int
    dead: int


@dataclass(frozen=True)
class Outcome:
    """The database's figures at the end."""

    #: By carrier: flights, minutes late at departure and at arrival.
    totals: dict[str, tuple[int, int, int]]
    #: Different flights among those.
    different: int
    #: Row numbers of the flights in the exception destination.
    dead: set[int]
    #: Number of incidents of each dead flight, by row number.
    incidents: dict[int, int]
    #: Incidents that a supervisor recorded for a killed process.
    killed_in_handler: int
    sent: int
    consumed: int
    consumed_distinct: int
    left: int
    #: By subscription, the row number of every flight that it was told of, and their delays in all.
    told: dict[str, tuple[list[int], int]]
    #: Why flights are dead, the commonest cause first: as ``Admin.poison_causes``.
    causes: list[dict[str, Any]]


def prepare(dsn: str) -> str:
    """Create and migrate the demo's database on the server of ``dsn``, create the queue, and return the DSN."""
    try:
        with psycopg.connect(canonical(dsn), autocommit=True) as connection:
            connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(DATABASE)))
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(DATABASE)))
    except psycopg.OperationalError as error:
        raise cannot_connect(error) from error
    demo = canonical(dsn, dbname=DATABASE)
    migrate(demo)
    with psycopg.connect(demo) as connection:
        connection.execute(TABLE)
        connection.execute(
            "select howdah.create_queue(%s, %s::jsonb)",
            (QUEUE, '{"journal_level": "full", "redelivery_delay_ms": 1000}'),
        )
        admin = Admin(Session(connection).call)
        admin.create_topic(TOPIC, journal_level="full")
        for name, selector in SUBSCRIPTIONS.items():
            admin.subscribe(TOPIC, name, selector=selector)
    return demo


def progress(connection: psycopg.Connection[Any]) -> Progress:
    """Return where the flights are now. Handled are those whose row is committed: queue_stats may be behind."""
    row = connection.execute(
        f"select live + parked, ({HANDLED}), dead from howdah.queue_stats(%s::text)".encode(), (QUEUE,)
    ).fetchone()
    assert row is not None
    return Progress(*row)


def outcome(connection: psycopg.Connection[Any]) -> Outcome:
    """Return the figures that the report compares with the file."""

    # No autovacuum has come by yet, and without statistics some of these take seconds.
    connection.execute("analyze howdah.msgs, howdah.journal, howdah.poison_details")

    def rows(query: str) -> list[tuple[Any, ...]]:
        return connection.execute(query.encode(), (QUEUE,) if "%s" in query else None).fetchall()

    incidents = rows(
        "select m.correlation_id, count(i.incident_id), count(*) filter (where i.error_class = 'WorkerDied')"
        " from howdah.audit_messages m left join howdah.audit_incidents i on i.message_id = m.message_id"
        " where m.state = 'dead' and m.origin_queue = %s group by 1"
    )
    killed = rows("select count(*) from howdah.audit_incidents where error_class = 'WorkerDied' and queue = %s")
    events = {
        event: (count, distinct)
        for event, count, distinct in rows(
            "select event, count(*), count(distinct message_id) from howdah.audit_journal"
            " where queue = %s group by event"
        )
    }
    totals = rows(TOTALS)
    left = rows("select count(*) from howdah.audit_messages where queue = %s")
    return Outcome(
        totals={carrier: (flights, departure, arrival) for carrier, flights, _, departure, arrival in totals},
        different=sum(different for _, _, different, _, _ in totals),
        dead={int(row) for row, _, _ in incidents},
        incidents={int(row): count for row, count, _ in incidents},
        killed_in_handler=killed[0][0],
        sent=events.get("sent", (0, 0))[0],
        consumed=events.get("consumed", (0, 0))[0],
        consumed_distinct=events.get("consumed", (0, 0))[1],
        left=left[0][0],
        told={name: (flights, delays) for name, flights, delays in rows(TOLD)},
        causes=Admin(Session(connection).call).poison_causes(QUEUE),
    )
