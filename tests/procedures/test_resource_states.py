"""The resource states green, yellow, orange and red follow how full the whole engine is."""

from __future__ import annotations

import psycopg
import pytest
from full_queue_support import SEND
from policy_support import Create
from resource_states_support import FILL, limit, state, until_full
from support import Clock, Connect, Db, column, one, receive, refused


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create()
    create("r")


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-35")
@pytest.mark.behaviour("IMQ-36")
@pytest.mark.parametrize("options", ['{"max_count": 1000}', '{"max_size": 1000}', '{"imq.system.max_count": 1000}'])
def test_the_states_begin_at_60_75_and_90_percent(db: Db, options: str) -> None:
    limit(db, options)
    assert state(db) == "green"
    stored = 0
    for count, expected in (
        (599, "green"), (600, "yellow"), (749, "yellow"), (750, "orange"), (899, "orange"), (900, "red")
    ):  # fmt: skip
        one(db, FILL, (count - stored,))
        stored = count
        assert state(db) == expected
        assert one(db, "select percent from howdah.resource_state()") * 10 == count


@pytest.mark.behaviour("IMQ-36")
def test_the_thresholds_are_settings(db: Db) -> None:
    limit(db, '{"max_count": 10, "yellow_threshold": 20, "imq.orange.threshold": 30, "imq.red.threshold": 40}')
    states = [state(db)]
    for _ in range(4):
        one(db, SEND, ("x",))
        states.append(state(db))
    assert states == ["green", "green", "yellow", "orange", "red"]
    refused(db, "HD027", SEND, ("x",))


@pytest.mark.behaviour("IMQ-40")
def test_a_changed_limit_changes_the_state_at_once(db: Db, connect: Connect) -> None:
    other = connect()
    limit(db, '{"max_size": "1k"}')
    one(other, SEND, ("x" * 800,))
    assert state(db) == "orange"
    limit(db, '{"max_size": 888}')
    assert state(db) == "red"
    refused(other, "HD027", SEND, ("x",))
    limit(db, '{"max_size": "1m"}')
    assert state(db) == "green"
    one(other, SEND, ("x" * 100_000,))
    limit(db, '{"max_count": 2}')
    assert state(db) == "red"
    limit(db, '{"max_count": 0, "max_size": -1}')
    assert (state(db), one(db, "select percent from howdah.resource_state()")) == ("green", None)
    one(other, SEND, ("x" * 1_000_000,))


@pytest.mark.behaviour("IMQ-37")
def test_entering_yellow_reclaims_what_has_expired_at_once(db: Db, clock: Clock) -> None:
    limit(db, '{"max_count": 100}')
    one(db, "select howdah.send_batch('q', array_fill('x'::text, array[20]), time_to_live => '1 second')")
    one(db, "select howdah.send('r', 'x', time_to_live => '1 second', delivery_mode => 'non-persistent')")
    one(db, "select howdah.send('r', 'x', time_to_live => '1 second', delay => '0.5 seconds')")
    one(db, FILL, (30,))
    clock.advance(1)
    assert one(db, "select messages from howdah.resource_state()") == 52
    for _ in range(7):
        one(db, SEND, ("x",))
    assert one(db, "select messages from howdah.resource_state()") == 59
    one(db, SEND, ("x",))  # the sixtieth
    assert one(db, "select messages from howdah.resource_state()") == 38
    assert column(db, "select count(*) from howdah.audit_journal where event = 'expired'") == [22]


@pytest.mark.behaviour("IMQ-38")
def test_in_orange_sends_are_slowed_by_the_batch_of_fifty_and_not_refused(db: Db) -> None:
    elapsed = (
        "with a as materialized (select clock_timestamp() as t), b as materialized (select {} as s from a)"
        " select (extract(epoch from clock_timestamp() - a.t) * 1000)::integer from a, b where b.s is not null"
    )
    limit(db, '{"max_count": 1000, "orange_delay_ms": 60}')
    one(db, FILL, (750,))
    assert state(db) == "orange"
    assert one(db, elapsed.format("howdah.send('q', 'x')")) >= 60
    assert one(db, elapsed.format("howdah.send_batch('q', array_fill('x'::text, array[101]))")) >= 180
    limit(db, '{"orange_delay_ms": 0}')
    assert len(receive(db, n=500)) == 500
    assert state(db) == "green"


@pytest.mark.behaviour("IMQ-39")
def test_in_red_sends_and_new_destinations_are_refused_until_it_drains_below_the_threshold(
    db: Db, connect: Connect
) -> None:
    limit(db, '{"max_count": 100, "orange_delay_ms": 0}')
    assert until_full(db) == 90
    assert state(db) == "red"
    producer = connect("howdah_producer")
    for query in ("select howdah.send('r', 'x')", "select howdah.send_batch('r', array['x'])"):
        hint = refused(producer, "HD027", query).message_hint
        assert hint is not None
        assert "90 %" in hint
    refused(db, "HD027", "select howdah.create_queue('new')")
    refused(db, "HD027", "select howdah.create_topic('new')")
    assert len(receive(db)) == 1
    one(producer, "select howdah.send('r', 'x')")
    refused(producer, "HD027", "select howdah.send('r', 'x')")
    assert len(receive(db)) == 1
    one(db, "select howdah.create_queue('new')")


@pytest.mark.behaviour("IMQ-39")
def test_in_red_nothing_is_published_either(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send('t', 'x')")
    limit(db, '{"max_count": 1}')
    one(db, "select howdah.send('t', 'x')")
    one(db, SEND, ("x",))
    refused(db, "HD027", "select howdah.send('t', 'x')")
    assert len(receive(db)) == 1
    one(db, "select howdah.send('t', 'x')")


def test_only_administrators_change_the_engine_and_everybody_may_see_its_state(connect: Connect) -> None:
    for role in ("howdah_producer", "howdah_consumer", "howdah_browser", "howdah_auditor"):
        session = connect(role)
        refused(session, "42501", "select howdah.alter_engine('{}')")
        assert state(session) == "green"
        assert one(session, "select howdah.engine_options() ->> 'red_threshold'") == "90"
    one(connect("howdah_admin"), "select howdah.alter_engine('{}')")


@pytest.mark.slow
def test_the_kept_state_counts_nothing_and_says_what_maintenance_counted(db: Db, connect: Connect) -> None:
    kept = "select state, messages, bytes, max_count, percent from howdah.resource_state(exact => false)"
    assert db.execute(kept).fetchall() == [("green", None, None, None, None)]
    one(db, FILL, (80,))
    one(db, "select howdah.maintain_backlog()")
    limit(db, '{"max_count": 100}')
    one(db, FILL, (5,))
    assert db.execute(kept).fetchall() == [("orange", 80, None, 100, 80)]
    assert state(db) == "orange"
    looker = connect("howdah_browser")
    looker.execute("set lock_timeout = '1s'")
    with db.transaction():
        db.execute("lock table howdah.msgs, howdah.parked, howdah.leased, howdah.msgs_nonpersistent")
        assert looker.execute(kept).fetchall() == [("orange", 80, None, 100, 80)]
        with pytest.raises(psycopg.errors.LockNotAvailable):
            state(looker)


def test_the_kept_state_of_bytes_is_that_of_the_last_send(db: Db) -> None:
    limit(db, '{"max_size": 1000}')
    kept = "select state, percent from howdah.resource_state(exact => false)"
    assert db.execute(kept).fetchall() == [("green", None)]
    one(db, FILL, (800,))
    one(db, SEND, ("x",))
    assert db.execute(kept).fetchall() == [("orange", None)]
