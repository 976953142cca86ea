"""What one queue shows of who reads it: times, groups and selectors, each bounded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, all_refused, one, refused

HELD = "select message_group, messages, leased, held_up, consumer, looked, complete from howdah.list_groups('q')"


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def send(db: Db, group: str | None, **headers: Any) -> int:
    given = {**headers, **({"JMSXGroupID": group} if group else {})}
    number: int = one(db, "select howdah.send('q', 'x'::text, headers => %s)", (Jsonb(given),))
    return number


def test_groups_are_counted_among_the_messages_and_name_who_has_them(db: Db) -> None:
    for group in ("ann", "ann", "bob", None):
        send(db, group)
    assert db.execute(HELD).fetchall() == [
        ("ann", 2, 0, 0, None, 4, True),
        ("bob", 1, 0, 0, None, 4, True),
    ]
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"message_groups": "sticky"}),))
    consumer = one(db, "select howdah.open_consumer('q')")
    one(db, "select message_id from howdah.receive('q', consumer => %s)", (consumer,))
    assert db.execute(HELD).fetchall()[0] == ("ann", 1, 0, 0, consumer, 3, True)


def test_a_group_under_a_lease_is_held_up_by_it(db: Db) -> None:
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"message_groups": "transaction"}),))
    send(db, "ann")
    send(db, "ann")
    one(db, "select message_id from howdah.lease('q')")
    assert db.execute(HELD).fetchall() == [("ann", 1, 1, 1, None, 2, True)]
    assert one(db, "select held_until > howdah.now() from howdah.list_groups('q')")


def test_groups_say_when_not_all_messages_were_looked_at(db: Db) -> None:
    definition = one(db, "select pg_get_functiondef('howdah.list_groups'::regproc)")
    assert ":= 10000;" in definition
    for group in ("ann", "ann", "bob"):
        send(db, group)
    db.execute(definition.replace(":= 10000;", ":= 2;"))
    try:
        assert db.execute(HELD).fetchall() == [("ann", 2, 0, 0, None, 2, False)]
    finally:
        db.execute(definition)
    assert one(db, "select message_group from howdah.list_groups('q', 1)") == "ann"


def test_selectors_are_those_of_receives_links_bridges_and_subscriptions(db: Db) -> None:
    send(db, None, shop="north")
    one(db, "select count(*) from howdah.receive('q', selector => 'shop = 2')")
    one(db, "select howdah.create_topic('news')")
    one(db, "select howdah.bridge('news', 'q', %s)", ("region = 1",))
    listed = "select used_by, name, selector, last_used_at is null from howdah.list_selectors(%s)"
    assert db.execute(listed, ("q",)).fetchall() == [
        ("receive", None, "shop = 2", False),
        ("bridge", "news", "region = 1", True),
    ]
    assert one(db, "select selector from howdah.list_selectors('q', 1)") == "shop = 2"


def test_times_are_told_by_their_bounds(db: Db, clock: Clock) -> None:
    one(db, "select howdah.maintain_totals()")
    times = "select kind, calls, mean, half, nine_tenths, ninety_nine_hundredths from howdah.queue_times('q')"
    assert db.execute(times).fetchall() == []
    for seconds in (4, 4, 100_000):
        send(db, None)
        clock.advance(seconds)
        one(db, "select message_id from howdah.receive('q')")
    clock.advance(60)
    one(db, "select howdah.maintain_totals()")
    assert db.execute(times).fetchall() == [
        ("wait", 3, timedelta(seconds=100_008 / 3), timedelta(seconds=5), None, None)
    ]


@pytest.mark.parametrize("name", ["list_groups", "list_selectors", "queue_times"])
def test_who_may_browse_the_queue_may_ask(db: Db, connect: Connect, name: str) -> None:
    for role in ("howdah_browser", "howdah_consumer", "howdah_auditor"):
        connect(role).execute(f"select * from howdah.{name}('q')".encode())
    db.execute("delete from howdah.destination_grants where verb = 'browse'")
    refused(connect("howdah_browser"), "HD010", f"select * from howdah.{name}('q')")


def test_wrong_arguments_are_refused(db: Db) -> None:
    all_refused(
        db,
        [
            ("HD001", "select * from howdah.list_groups('none')"),
            ("HD005", "select * from howdah.list_groups('q', 0)"),
            ("HD001", "select * from howdah.list_selectors('none')"),
            ("HD005", "select * from howdah.list_selectors('q', null)"),
            ("HD001", "select * from howdah.queue_times('none')"),
        ],
    )
