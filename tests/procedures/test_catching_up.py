"""What was missed is made up for as the schedule says, as far as its queue has room."""

from __future__ import annotations

from datetime import timedelta

from policy_support import Create
from scheduling_support import bodies, fire, plan, schedule, state
from support import Clock, Db, receive


def test_what_was_missed_is_made_up_for_all_or_once_or_not_at_all(db: Db, clock: Clock, create: Create) -> None:
    create()
    once = schedule(db, "once", period="10 s")
    every = schedule(db, "every", period="10 s", catch_up=True)
    counted = schedule(db, "counted", period="10 s", repeat=4)
    grace = schedule(db, "grace", period="10 s", catch_up=True, misfire_grace="25 s")
    late = schedule(db, "late", period="1 h", misfire_grace="1 s", delay="10 s")
    clock.advance(65)
    assert fire(db) == 1 + 6 + 5 + 3
    assert sorted(body or "" for body in bodies(db)) == ["counted"] * 5 + ["every"] * 6 + ["grace"] * 3 + ["once"]
    assert [state(db, number, "fired", "missed") for number in (once, every, counted, grace, late)] == [
        (1, 5), (6, 0), (5, 0), (3, 3), (0, 1),
    ]  # fmt: skip
    assert state(db, once, "next_at") == (clock.now + timedelta(seconds=5),)


def test_a_long_row_of_missed_firings_is_made_up_for_in_passes(db: Db, clock: Clock, create: Create) -> None:
    create()
    schedule(db, "all", period="1 ms", catch_up=True)
    short = schedule(db, "one", period="1 ms", catch_up=False)
    clock.advance(2.5)
    assert [fire(db) for _ in range(4)] == [1001, 1000, 500, 0]
    assert state(db, short, "fired", "missed") == (1, 2499)
    assert bodies(db).count("all") == 2500


def test_catching_up_sends_what_a_bounded_queue_has_room_for_and_goes_on_from_there(
    db: Db, clock: Clock, create: Create
) -> None:
    create(message_limit=5)
    begun = clock.now
    number = schedule(db, period="1 s", repeat=11)
    clock.advance(60)
    assert fire(db) == 5
    expected = ("active", 5, 0, 7, begun + timedelta(seconds=6))
    assert state(db, number, "state", "fired", "missed", "remaining", "next_at") == expected
    assert "full" in state(db, number, "last_error")[0]
    clock.advance(10)
    assert fire(db) == 0
    assert state(db, number, "state", "fired", "missed", "remaining", "next_at") == expected
    times = []
    for room, sent in ((3, 3), (5, 4)):
        times += [message.headers["scheduledTime"] for message in receive(db, n=room)]
        clock.advance(10)
        assert fire(db) == sent
    assert state(db, number, "state", "fired", "missed", "last_error") == ("ended", 12, 0, None)
    times += [message.headers["scheduledTime"] for message in receive(db, n=10)]
    assert times == [(begun + timedelta(seconds=second)).timestamp() * 1000 for second in range(1, 13)]


def test_what_comes_too_late_while_a_queue_is_full_counts_as_missed(db: Db, clock: Clock, create: Create) -> None:
    create(message_limit=5)
    number = schedule(db, period="1 s", repeat=11, misfire_grace="8 s")
    clock.advance(12)
    assert fire(db) == 5  # those of the seconds 4 to 8
    assert state(db, number, "fired", "missed", "remaining") == (5, 3, 4)
    clock.advance(10)
    assert fire(db) == 0
    assert state(db, number, "state", "fired", "missed") == ("ended", 5, 7)


def test_catching_up_by_cron_sends_what_a_bounded_queue_has_room_for(db: Db, clock: Clock, create: Create) -> None:
    create(message_limit=2)
    number = schedule(db, cron="* * * * *", catch_up=True)
    times = [clock.now + timedelta(minutes=minute) for minute in range(4)]
    clock.advance(180)
    assert fire(db, plan(db, number, times, times[3] + timedelta(minutes=1))) == 2
    assert state(db, number, "next_at", "missed") == (times[2], 0)
    assert len(bodies(db)) == 2
    clock.advance(10)
    assert fire(db, plan(db, number, times[2:], times[3] + timedelta(minutes=1))) == 2
    assert state(db, number, "fired", "missed") == (4, 0)
