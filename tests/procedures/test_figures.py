"""What lies in queues that are too long, or too many, to be counted at each look."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from support import SYSTEM, Clock, Db, one, receive

STATS = "select live, parked, dead, exact, figures_age from howdah.queue_stats('q')"
NOW = timedelta(0)


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def stats(db: Db) -> tuple[Any, ...]:
    return db.execute(STATS.encode()).fetchall()[0]


def fill(db: Db, number: int, extra: str = "") -> None:
    one(
        db,
        f"select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, %s)){extra}))",
        (number,),
    )


def close(figure: int, to: int) -> bool:
    return abs(figure - to) < to / 20


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


def test_a_queue_that_became_short_is_counted_again(db: Db) -> None:
    fill(db, 10_001)
    assert one(db, "select howdah.maintain_backlog()") == 1
    assert one(db, "select howdah.maintain_backlog()") == 0, "nothing changed"
    assert len(receive(db, n=2)) == 2
    assert one(db, "select howdah.maintain_backlog()") == 1
    assert stats(db) == (9_999, 0, 0, True, NOW)


def test_an_estimate_has_every_priority_and_place_and_the_age_of_the_oldest(db: Db, clock: Clock) -> None:
    for priority in (0, 4, 9):
        fill(db, 7000, f", priorities => array_fill({priority}, array[7000])")
        clock.advance(10)
    fill(db, 5000, ", delivery_mode => 'non-persistent'")
    fill(db, 25_000, ", delay => '1 h'")
    live, parked, _dead, exact, age = stats(db)
    assert (exact, age) == (False, NOW)
    assert close(live, 26_000)
    assert close(parked, 25_000)
    assert one(db, "select oldest_age from howdah.queue_stats('q')") == timedelta(seconds=30)
    assert len(db.execute(b"select from howdah.lease('q', 1000)").fetchall()) == 1000
    assert close(stats(db)[1], 26_000)


def test_an_estimate_sees_gaps(db: Db) -> None:
    """Positions that a rollback left empty, and every second message of a third of the queue taken by its number."""
    for _ in range(3):
        with db.transaction(force_rollback=True):
            fill(db, 10_000)
        fill(db, 10_000)
    taken = one(
        db,
        "select howdah.discard('q', array(select m.message_id from howdah.audit_messages m where m.queue = 'q'"
        " order by m.message_id limit 4000))",
    )
    assert taken == 4000
    assert close(stats(db)[0], 26_000)


def test_the_dead_of_a_long_exception_destination_are_estimated_by_origin(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('other')")
    for queue, number in (("q", 18_000), ("other", 6000)):
        one(
            db,
            "select howdah.send_batch(%s, array(select 'x' from generate_series(1, %s)), time_to_live => '1 s')",
            (queue, number),
        )
        one(db, "select howdah.alter_queue(%s, '{\"process_expired\": true}')", (queue,))
    clock.advance(1)
    while one(db, "select howdah.maintain_expired()"):
        pass
    dead = stats(db)
    assert dead[3] is False
    assert close(dead[2], 18_000)
    assert close(one(db, "select dead from howdah.queue_stats('other')"), 6000)
    one(db, "select howdah.maintain_backlog()")
    clock.advance(5)
    assert stats(db) == (0, 0, 18_000, False, timedelta(seconds=5))
    assert one(db, "select live from howdah.queue_stats(%s)", (SYSTEM,)) == 24_000


def test_the_list_of_very_many_queues_is_as_counted_in_the_background(db: Db, clock: Clock) -> None:
    one(db, "select count(howdah.create_queue('many' || g)) from generate_series(1, 1000) g")
    for queue in ("q", "many7"):
        one(db, "select howdah.send(%s, 'x')", (queue,))
    listed = "select queue_name, live from howdah.queue_stats() where live > 0 and exact = %s order by 1"
    assert db.execute(listed.encode(), (True,)).fetchall() == [("many7", 1), ("q", 1)], "nobody has counted yet"
    assert one(db, "select howdah.maintain_backlog()") == 2
    one(db, "select howdah.send('many7', 'x')")
    clock.advance(3)
    assert db.execute(listed.encode(), (False,)).fetchall() == [("many7", 1), ("q", 1)]
    assert one(db, "select count(*) from howdah.queue_stats() where not exact and figures_age = '3 s'") == 1002
    assert one(db, "select live from howdah.queue_stats('many7') where exact") == 2
    clock.advance(120)
    assert db.execute(listed.encode(), (True,)).fetchall() == [("many7", 2), ("q", 1)]


def test_the_dead_of_very_many_exception_destinations_are_as_counted_in_the_background(db: Db, clock: Clock) -> None:
    one(db, """select howdah.alter_queue('q', '{"exception_mode": "individual", "process_expired": true}')""")
    one(
        db,
        "select count(howdah.create_queue('many' || g, '{\"exception_mode\": \"individual\"}')) from generate_series(1, 100) g",
    )
    one(db, "select howdah.send('q', 'x', time_to_live => '1 s')")
    clock.advance(1)
    one(db, "select howdah.maintain_expired()")
    assert stats(db) == (0, 0, 1, True, NOW)
    one(db, "select howdah.maintain_backlog()")
    assert stats(db)[:4] == (0, 0, 1, False)


@pytest.mark.parametrize("first", [1, 5, 999_999_999_999])
@pytest.mark.parametrize("length", [1, 7, 99, 100, 101, 2000, 2001, 1_000_003])
def test_parts_cover_a_stretch_without_overlap(db: Db, first: int, length: int) -> None:
    rows = db.execute(b"select * from howdah._parts(%s, %s, 100, 20) order by 1", (first, length)).fetchall()
    assert rows[0][0] == first
    for (begin, after, weight), (following, *_) in zip(rows, [*rows[1:], (first + length, 0, 0)], strict=True):
        assert after - begin <= 20
        assert after <= following
        assert following - begin == pytest.approx((after - begin) * weight)
