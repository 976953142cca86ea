"""The five levels of reliability, and messages of each in every place that a queue and a topic have."""

from __future__ import annotations

import psycopg
from support import Db, column, one

from howdah.engine.embedded import EmbeddedServer

LEVELS = (
    "BEST_EFFORT_NONPERSISTENT",
    "EXPRESS_NONPERSISTENT",
    "RELIABLE_NONPERSISTENT",
    "RELIABLE_PERSISTENT",
    "ASSURED_PERSISTENT",
)
NONPERSISTENT = LEVELS[:3]
RELIABLE, ASSURED = LEVELS[3:]
WORD = "set local howdah.commit_by_reliability = on"


def open_db(server: EmbeddedServer) -> Db:
    """A connection to the server, which is started if it does not run."""
    return psycopg.connect(server.start().dsn, autocommit=True)


def make_sleepy(server: EmbeddedServer) -> None:
    """Let the WAL writer sleep, and restart: an asynchronous commit then is not flushed for ten seconds."""
    with open_db(server) as db:
        for name, value in {
            "wal_writer_delay": "10s",
            "wal_writer_flush_after": "1GB",
            "autovacuum": "off",
            "bgwriter_lru_maxpages": "0",
        }.items():
            db.execute(f"alter system set {name} = '{value}'")
    server.stop("fast")


def send(db: Db, level: str, queue: str = "q", body: str = "x") -> int:
    """Send one message."""
    sent = one(db, "select howdah.send(%s, %s::text, reliability => %s)", (queue, body, level))
    assert isinstance(sent, int)
    return sent


def by_word(db: Db, level: str, queue: str = "q", body: str = "x") -> int:
    """Send one message in a transaction that commits by reliability."""
    with db.transaction():
        db.execute(WORD)
        return send(db, level, queue, body)


PLACES = ("ready", "parked", "leased", "leased from parked", "published", "set aside")


def furnish(db: Db) -> None:
    """Queues and a topic for the places."""
    for queue in ("q", "parked", "leased", "again"):
        one(db, "select howdah.create_queue(%s)", (queue,))
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 'reader')")
    one(db, "select howdah.create_topic('failed')")
    one(db, "select howdah.subscribe('failed', 'mender')")


def put_everywhere(db: Db, level: str) -> dict[str, int]:
    """A message of the level in each place."""
    sent = {
        "ready": send(db, level),
        "parked": one(db, "select howdah.send('parked', 'x', reliability => %s, delay => '1 h')", (level,)),
        "leased": send(db, level, "leased"),
        "leased from parked": one(db, "select howdah.send('again', 'x', reliability => %s, delay => '1 ms')", (level,)),
        "published": send(db, level, "t"),
        "set aside": send(db, level, "failed"),
    }
    one(db, "select pg_sleep(0.002)")
    for queue in ("leased", "again"):
        assert len(column(db, "select message_id from howdah.lease(%s, 1, '1 h')", (queue,))) == 1
    with db.transaction(force_rollback=True):
        assert column(db, "select message_id from howdah.receive('failed::mender', 1)")
    one(db, "select outcome from howdah.record_failure('failed::mender', %s, 'E', 'x')", (sent["set aside"],))
    return sent


def present(db: Db) -> set[tuple[str, int]]:
    """What is where, by the places' names."""
    queues = {
        "ready": "select message_id from howdah.browse('q', 1000)",
        "parked": "select message_id from howdah.list_delayed('parked')",
        "leased": "select message_id from howdah.audit_messages where queue = 'leased'",
        "leased from parked": "select message_id from howdah.audit_messages where queue = 'again'",
        "published": "select message_id from howdah.browse('t::reader', 1000)",
        "set aside": "select message_id from howdah.browse('failed::mender', 1000)",
    }
    return {(place, number) for place, query in queues.items() for number in column(db, query)}
