"""What the fuzz test has in its database, and what it knows of it."""

from __future__ import annotations

import json
from contextlib import suppress

import psycopg
from fuzz_values import World
from hostile_values import ENDLESS, INTERVALS
from support import Db, column, one

FACTS = json.dumps(
    {name: {"rows": 0, "checksum": 0} for name in ("journal", "incidents", "messages")}
    | {"manifest": "m", "path": "p", "started_at": "2026-01-01T00:00:00Z"}
)
QUEUES = {
    "orders": '{"journal_level": "full"}',
    "strict": '{"journal_level": "full", "strict_order": true, "max_failed_deliveries": 1}',
    "hardened": '{"journal_level": "full", "backout_count": "hardened"}',
    "grouped": '{"journal_level": "full", "message_groups": "sticky", "delivery_policy": "round_robin"}',
    "small": '{"journal_level": "full", "message_limit": 50}',
    "limited": (
        '{"journal_level": "full", "max_concurrent": 9, "limit_key": "JMSXGroupID", "max_concurrent_per_key": 5,'
        ' "rate_limit": "9999/1s burst 9999", "rate_limit_per_key": "9999/1s burst 9999"}'
    ),
}
FURNITURE = (
    "select howdah.create_topic('news', '{\"journal_level\": \"full\"}')",
    (
        "select howdah.subscribe('news', 'reader'), howdah.subscribe('news', 'several',"
        " shared => true, selector => 'a = 1')"
    ),
    "select howdah.create_listener('listener', 'orders')",
    "select howdah.create_object('cf/shop', 'connection_factory', '{\"priority\": 7}')",
    "select howdah.xa_begin('xa/shop')",
    "select howdah.send('news', 'x'::text) from generate_series(1, 10)",
    (
        "select howdah.send('orders', 'x'::text, delay => '1 hour'), howdah.send('orders', 'x'::text,"
        " delivery_mode => 'non-persistent')"
    ),
    (
        "select howdah.schedule('orders', 'x'::text, cron => '* * * * *'), howdah.schedule('orders', 'x'::text,"
        " period => '1 h', name => 'hourly')"
    ),
    (
        "select howdah.record_failure('strict', min(message_id), 'failed', 'ValueError')"
        " from howdah.audit_messages where queue = 'strict'"
    ),
    "select lease from howdah.lease('orders', 3)",
    "select howdah.begin_import('store')",
    "select howdah.open_consumer('grouped')",
    "select howdah.begin_attempts('hardened', 2)",
    "select howdah.register_worker('worker', 'host', 1, 1, '{orders}')",
    "set role howdah_auditor; select howdah.hold_audit('holder')",
    "set role howdah_admin; select howdah.begin_archive(howdah.acquire_lock('archive', 'holder', 3600), true)",
    (
        f"select howdah.finish_archive_run(l.epoch, e.archive_id, 1, '10:20:', '{FACTS}')"
        " from howdah.lock l, howdah.engine e where l.name = 'archive'"
    ),
)
"""A little of everything."""


def furnish(db: Db) -> None:
    """Put into the database what calls may meet: all of it at first, later what calls have taken away."""
    for name, options in QUEUES.items():
        with suppress(psycopg.Error):
            db.execute("select howdah.create_queue(%s, %s)", (name, options))
        with suppress(psycopg.Error):
            db.execute("select howdah.resume(%s)", (name,))
            db.execute(
                "select howdah.send(%s, 'body', priority => n %% 10, correlation_id => 'c',"
                ' headers => \'{"JMSXGroupID": "g"}\')'
                " from generate_series(1, 10) n",
                (name,),
            )
    for statement in FURNITURE:
        with suppress(psycopg.Error):
            db.execute(statement.encode())
        db.execute("reset role")


def look(db: Db) -> World:
    """What there is by now."""
    queues = column(
        db,
        "select name from howdah.destinations where dropped_at is null and kind <> 'topic' order by id desc limit 12",
    )
    topics = column(
        db, "select name from howdah.destinations where dropped_at is null and kind = 'topic' order by id desc limit 5"
    )
    names = [*QUEUES, *QUEUES, *QUEUES, *queues, "unknown"]

    def read(query: str) -> list[str]:
        return [str(value) for value in column(db, query) if value is not None]

    messages = read("select message_id from howdah.audit_messages order by random() limit 30")
    leases = read("select distinct seq >> 20 from howdah.leased limit 10")
    known = {
        "queue": names,
        "target": names,
        "reply_to": names,
        "topic": ["news", "news", *topics],
        "subscription": read("select name from howdah.destinations where dropped_at is null and kind = 'subscription'"),
        "listener": ["listener"],
        "priority": ["4"],
        "verb": ["send", "receive", "browse", "admin"],
        "role": ["howdah_producer"],
        "pattern": ["a.*"],
        "cron": ["* * * * *"],
        "time_zone": ["UTC"],
        "severity": ["none"],
        "exit_code": ["0"],
        "started_at": ["2026-01-01 00:00:00+00"],
        "taken_at": ["2026-01-01 00:00:00+00"],
        "delivery_mode": ["persistent", "non-persistent"],
        "content_type": ["text/plain"],
        "selector": ["a = 1"],
        "body_type": ["text", "bytes"],
        "snapshot": ["10:20:"],
        "starting": ["latest", "earliest"],
        "message_id": messages,
        "only_id": messages,
        "finished": messages,
        "delivered": messages,
        "first_message_id": messages,
        "last_message_id": messages,
        "position": read("select seq from howdah.msgs limit 10"),
        "lease": leases,
        "acknowledge": leases,
        "consumer": read("select consumer from howdah.list_consumers('grouped')"),
        "schedule_id": read("select id from howdah.schedules limit 10"),
        "worker_id": read("select worker_id from howdah.list_workers()"),
        "attempt_id": read("select attempt_id from howdah.attempts limit 5"),
        "name": ["hourly", "lock", "reader", "cf/shop"],
        "factory": ["xa/shop"],
        "transaction_id": read("select transaction_id from howdah.xa_transactions limit 5"),
        "outcome": ["commit", "rollback"],
        "holder": ["holder"],
        "source": ["store"],
        "lock_epoch": read("select epoch from howdah.lock where holder is not null"),
        "epoch": read("select epoch from howdah.lock where holder is not null"),
        "archive": read("select archive_id from howdah.engine"),
        "run": ["1", "2"],
        "damage": ["", "torn"],
        "facts": [FACTS],
        "max_messages": ["1", "10", "1000"],
        "offset": [str(one(db, "select howdah.journal_offset()::text"))],
    }
    # A journal that is switched off accounts for nothing.
    queue_options = read("select k from jsonb_object_keys(howdah.queue_options('orders')) k where k <> 'journal_level'")
    topic_options = read("select k from jsonb_object_keys(howdah.topic_options('news')) k where k <> 'journal_level'")
    options = {
        "alter_engine": read("select jsonb_object_keys(howdah.engine_options())"),
        "create_topic": topic_options,
        "alter_topic": topic_options,
        "subscribe": [*queue_options, "prioritized"],
        "create_listener": ["max_sessions", "stop_on_failure", "sequential_failures", "kind"],
        "set_storage": ["fillfactor", "autovacuum_vacuum_scale_factor", "autovacuum_enabled"],
    }
    options |= dict.fromkeys(("create_queue", "alter_queue", "set_policy"), queue_options)
    options |= dict.fromkeys(("ensure_listener", "alter_listener"), options["create_listener"])
    endless = ENDLESS if db.info.server_version >= 170000 else []
    return World(known, options, _places(db), [*INTERVALS, *endless])


def _places(db: Db) -> list[dict[str, list[str]]]:
    """Some messages, each with its queue, its position, and the lease or attempt that has it."""
    rows = db.execute(
        "select d.name, m.message_id, m.priority, m.seq, m.lease, m.attempt_id from ("
        " (select destination_id, message_id, 9 - rank as priority, seq, null::bigint as lease,"
        " null::uuid as attempt_id"
        "  from howdah.msgs order by random() limit 15) union all"
        " (select destination_id, message_id, 9 - rank, seq, seq >> 20, null from howdah.leased limit 10) union all"
        " (select destination_id, message_id, 9 - rank, seq, lease_id, null from howdah.parked limit 10) union all"
        " (select destination_id, message_id, 9 - rank, seq, null, attempt_id from howdah.attempts limit 5)"
        ") m join howdah.destinations d on d.id = m.destination_id and d.dropped_at is null"
    ).fetchall()
    names = ("queue", "message_id", "priority", "position", "lease", "attempt_id")
    found = [{name: [str(value)] for name, value in zip(names, row, strict=True) if value is not None} for row in rows]
    for place in found:
        place["first_message_id"] = place["last_message_id"] = place["message_id"]
    return found
