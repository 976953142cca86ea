"""What lies in queues that are too long, or too many, to be counted at each look."""

from __future__ import annotations

from datetime import timedelta

import pytest
from queue_figures_support import NOW, close, fill, stats
from support import Clock, Db, one, receive


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def test_a_queue_of_ten_thousand_is_counted_and_a_longer_one_is_estimated(db: Db) -> None:
    fill(db, 10_000)
    assert stats(db) == (10_000, 0, 0, True, NOW)
    fill(db, 10_000)
    live, *others = stats(db)
    assert close(live, 20_000)
    assert others == [0, 0, False, NOW]


def test_what_was_counted_in_the_background_is_shown_for_two_minutes(db: Db, clock: Clock) -> None:
    fill(db, 10_001)
    assert one(db, "select howdah.maintain_backlog()") == 1
    fill(db, 10_000)
    clock.advance(119)
    assert stats(db) == (10_001, 0, 0, False, timedelta(seconds=119))
    clock.advance(1)
    live, *others = stats(db)
    assert close(live, 20_001)
    assert others == [0, 0, False, NOW]


def test_a_count_of_the_future_is_not_shown(db: Db, clock: Clock) -> None:
    fill(db, 10_001)
    clock.advance(60)
    one(db, "select howdah.maintain_backlog()")
    fill(db, 10_000)
    clock.advance(-60)
    assert close(stats(db)[0], 20_001)


def test_a_queue_that_became_short_is_counted_again_at_once(db: Db) -> None:
    fill(db, 10_001)
    assert one(db, "select howdah.maintain_backlog()") == 1
    assert one(db, "select howdah.maintain_backlog()") == 0, "nothing changed"
    assert len(receive(db, n=2)) == 2
    assert stats(db) == (9_999, 0, 0, True, NOW)
    assert one(db, "select howdah.maintain_backlog()") == 1


def test_a_queue_that_became_long_since_the_last_count_is_estimated(db: Db) -> None:
    fill(db, 1)
    one(db, "select howdah.maintain_backlog()")
    fill(db, 20_000)
    assert close(stats(db)[0], 20_001)


def test_an_estimate_has_every_place_and_the_age_of_the_oldest(db: Db, clock: Clock) -> None:
    for priority in (0, 4, 9):
        fill(db, 4000, f", priorities => array_fill({priority}, array[4000])")
        clock.advance(10)
    fill(db, 5000, ", delivery_mode => 'non-persistent'")
    fill(db, 15_000, ", delay => '1 h'")
    live, parked, _dead, exact, age = stats(db)
    assert (exact, age) == (False, NOW)
    assert close(live, 17_000)
    assert close(parked, 15_000)
    assert one(db, "select oldest_age from howdah.queue_stats('q')") == timedelta(seconds=30)
    assert len(db.execute(b"select from howdah.lease('q', 1000)").fetchall()) == 1000
    assert close(stats(db)[1], 16_000)


@pytest.mark.slow
def test_the_list_of_very_many_queues_is_as_counted_in_the_background(db: Db, clock: Clock) -> None:
    one(db, "select count(howdah.create_queue('many' || g)) from generate_series(1, 998) g")
    for queue in ("q", "many7"):
        one(db, "select howdah.send(%s, 'x')", (queue,))
    listed = "select queue_name, live from howdah.queue_stats() where live > 0 and exact = %s order by 1"
    assert one(db, "select howdah.maintain_backlog()") == 2
    one(db, "select howdah.send('many7', 'x')")
    assert db.execute(listed.encode(), (True,)).fetchall() == [("many7", 2), ("q", 1)], "1,000 are counted at each look"
    one(db, "select howdah.create_queue('many999')")
    clock.advance(3)
    assert db.execute(listed.encode(), (False,)).fetchall() == [("many7", 1), ("q", 1)]
    assert one(db, "select count(*) from howdah.queue_stats() where not exact and figures_age = '3 s'") == 1001
    assert one(db, "select live from howdah.queue_stats('many7') where exact") == 2
    clock.advance(120)
    assert db.execute(listed.encode(), (True,)).fetchall() == [("many7", 2), ("q", 1)]


@pytest.mark.slow
def test_temporary_queues_do_not_make_them_many(db: Db) -> None:
    one(db, "select count(howdah.create_temporary_queue()) from generate_series(1, 1000)")
    one(db, "select howdah.maintain_backlog()")
    one(db, "select howdah.send('q', 'x')")
    assert one(db, "select live from howdah.queue_stats() where queue_name = 'q' and exact") == 1


@pytest.mark.slow
def test_the_dead_of_very_many_exception_destinations_are_as_counted_in_the_background(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"exception_mode": "individual", "process_expired": true}')""")
    options = '{"exception_mode": "individual"}'
    one(db, "select count(howdah.create_queue('many' || g, %s)) from generate_series(1, 100) g", (options,))
    one(db, "select howdah.send('q', 'x', time_to_live => '1 s')")
    clock.advance(1)
    one(db, "select howdah.maintain_expired()")
    assert stats(db) == (0, 0, 1, True, NOW)
    one(db, "select howdah.maintain_backlog()")
    assert stats(db)[:4] == (0, 0, 1, False)
