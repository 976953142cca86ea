"""Kept messages are shown page by page to those who may browse."""

from __future__ import annotations

import random
from typing import Any

from kept_support import HOUR, IDS, by_one, by_receive, rows, send
from policy_support import Create
from support import (
    Clock,
    Connect,
    Db,
    all_refused,
    column,
    one,
    refused,
)


def test_kept_messages_are_paged_by_time_and_id_both_ways(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR)
    numbers = []
    for _ in range(3):
        clock.advance(1)
        numbers += [send(db), send(db), send(db)]
        by_receive(db)
    assert column(db, IDS) == numbers
    for newest, wanted in (("false", numbers), ("true", numbers[::-1])):
        found: list[int] = []
        after: tuple[Any, Any] = (None, None)
        page = f"select message_id, kept_at from howdah.browse_kept('q', 2, %s, %s, newest_first => {newest})"
        while shown := rows(db, page, after):
            found += [row[0] for row in shown]
            after = shown[-1][::-1]
        assert found == wanted
    assert column(db, "select message_id from howdah.browse_kept('q', only_id => %s)", (numbers[4],)) == [numbers[4]]
    all_refused(
        db,
        [
            ("HD005", "select howdah.browse_kept('q', 0)"),
            ("HD005", "select howdah.browse_kept('q', null)"),
            ("HD005", "select howdah.browse_kept('q', 1, now())"),
            ("HD005", "select howdah.browse_kept('q', 1, null, 1)"),
            ("HD001", "select howdah.browse_kept('nowhere')"),
        ],
    )


def test_who_may_browse_sees_what_was_kept_and_redactions_hide_what_they_hide(
    db: Db, create: Create, connect: Connect
) -> None:
    create(keep_bodies_ms=HOUR)
    send(db, body='{"card": "4711", "a": 1}', content_type="application/json")
    send(db, body=b"4711")
    by_receive(db)
    one(db, "select howdah.set_redaction('q', '$.card')")
    look = "select coalesce(body, encode(bytes, 'escape')) from howdah.browse_kept('q')"
    whole = ['{"card": "4711", "a": 1}', "4711"]
    for role in ("howdah_admin", "howdah_consumer"):
        assert column(connect(role), look) == whole
    hidden = column(connect("howdah_browser"), look)
    assert len(hidden) == 2
    assert not any("4711" in body for body in hidden)
    for role in ("howdah_producer", "howdah_auditor"):
        refused(connect(role), "42501", look)
    for role in ("howdah_browser", "howdah_consumer", "howdah_auditor", "howdah_producer"):
        refused(connect(role), "42501", "select howdah.replay_kept('q')")
        refused(connect(role), "42501", "select howdah.delete_kept('q')")
        refused(connect(role), "42501", "select * from howdah.kept_messages")
    one(db, "select howdah.create_queue('other')")
    db.execute("delete from howdah.destination_grants g using howdah.destinations d"
               " where d.id = g.destination_id and d.name = 'q'")  # fmt: skip
    refused(connect("howdah_browser"), "HD010", look)
    refused(connect("howdah_admin"), "HD010", "select howdah.replay_kept('q', target => 'other')")
    refused(connect("howdah_admin"), "HD010", "select howdah.delete_kept('q')")


def test_metrics_say_how_old_the_oldest_kept_message_is_and_how_many_bytes_are_kept(
    db: Db, create: Create, clock: Clock
) -> None:
    create(keep_bodies_ms=HOUR)
    create("other")
    age = "select value from howdah.metrics() where name = 'howdah_queue_oldest_kept_age_seconds'"
    size = (
        "select value from howdah.metrics() where name = 'howdah_table_bytes' and labels ->> 'table' = 'kept_messages'"
    )
    assert column(db, age) == [0]
    empty = one(db, size)
    for body in (random.randbytes(100_000), "y"):
        send(db, body=body)
        by_one(db)
        clock.advance(30)
    assert column(db, age) == [60]
    assert one(db, size) > empty
    clock.advance(2 * 3600)
    assert column(db, age) == [7260]  # it is past its time, and still lies there
