"""Queues that create themselves use sequences made beforehand, and their limits hold exactly."""

from __future__ import annotations

import pytest
from autocreate_support import ON, alter, reap
from support import Connect, Db, column, one, refused


@pytest.fixture
def on(db: Db) -> Db:
    """The database, whose queues and topics create themselves."""
    alter(db, **ON)
    return db


def test_maintenance_makes_the_sequences_of_the_next_ones_beforehand(on: Db, connect: Connect) -> None:
    for _ in range(5):
        reap(on)
    assert one(on, "select count(*) from howdah.spare_numbers") == 100
    made = "select count(*) from pg_class where relkind = 'S' and relnamespace = 'howdah'::regnamespace"
    before = one(on, made)
    one(on, "select howdah.send('q', 'x')")
    assert one(on, made) == before
    other = connect()
    other.execute("begin")
    one(other, "select howdah.send('rolled-back', 'x')")
    one(on, "select howdah.send('r', 'x')")
    other.execute("rollback")
    assert one(on, "select count(*) from howdah.spare_numbers") == 98
    assert column(on, "select body from howdah.receive('q')") == ["x"]
    refused(on, "HD007", "select howdah.send('q', repeat('x', 20000))")
    one(on, "select howdah.create_queue('administrators', '{\"message_limit\": 1}')")
    one(on, "select howdah.send('administrators', 'x')")
    refused(on, "HD018", "select howdah.send('administrators', 'x')")
    reap(on)
    assert one(on, "select count(*) from howdah.spare_numbers") == 100


def test_nothing_is_made_beforehand_while_nothing_creates_itself(db: Db) -> None:
    reap(db)
    assert one(db, "select count(*) from howdah.spare_numbers") == 0


def test_the_limits_of_a_new_queue_hold_to_the_message_and_the_byte(on: Db, connect: Connect) -> None:
    alter(on, autocreate_options={"message_limit": 70, "byte_limit": 1000000})
    for name in ("a", "b"):
        reap(on)  # makes sequences beforehand
        other = connect()
        other.execute("begin")
        one(other, "select howdah.send(%s, 'rolled back')", (name,))
        other.execute("rollback")
        on.execute("select howdah.send(%s, 'x') from generate_series(1, 70) n", (name,))
        refused(on, "HD018", f"select howdah.send('{name}', 'x')")
    alter(on, autocreate_options={"byte_limit": 100000})
    on.execute("select howdah.send('c', repeat('x', 1000)) from generate_series(1, 100) n")
    refused(on, "HD018", "select howdah.send('c', 'x')")
    alter(on, autocreate_options={"message_limit": 3})
    one(on, "select howdah.send_batch('d', array['x', 'x', 'x']::bytea[])")
    refused(on, "HD018", "select howdah.send('d', 'x')")
    refused(on, "HD018", "select howdah.send_batch('e', array['x', 'x', 'x', 'x']::bytea[])")
    assert one(on, "select count(*) from howdah.destinations where name = 'e'") == 0
