"""What lies in queues that are too long, or too many, to be counted at each look."""

from __future__ import annotations

import random
from collections.abc import Callable
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


def skip(db: Db, positions: int) -> None:
    """As if so many messages had been sent and consumed."""
    one(
        db,
        "select max(nextval(positions)) from howdah.destinations, generate_series(1, %s) where name = 'q'",
        (positions,),
    )


def close(figure: int, to: int, within: float = 0.05) -> bool:
    return abs(figure - to) < to * within


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


def _clusters(db: Db) -> None:
    fill(db, 6000)
    skip(db, 5_000_000)
    fill(db, 1)
    skip(db, 5_000_000)
    fill(db, 6000)


def _a_straggler_in_front(db: Db) -> None:
    fill(db, 1)
    skip(db, 600_000)
    fill(db, 11_000)
    skip(db, 400_000)
    fill(db, 1)


def _random_priorities(db: Db) -> None:
    chosen = [random.Random(1).randrange(10) for _ in range(12_000)]
    one(
        db,
        (
            "select cardinality(howdah.send_batch('q', array(select 'x'"
            " from generate_series(1, 12000)), priorities => %s))"
        ),
        (chosen,),
    )


def _thinned(db: Db) -> None:
    fill(db, 36_000)
    some = "select message_id from howdah.audit_messages where queue = 'q' and hashint8(message_id) % 3 <> 0"
    assert one(db, f"select howdah.discard('q', array({some}))") > 22_000


def _thinned_priorities(db: Db) -> None:
    for _ in range(2):
        _random_priorities(db)
    some = "select message_id from howdah.audit_messages where queue = 'q' and hashint8(message_id) % 2 <> 0"
    assert one(db, f"select howdah.discard('q', array({some} order by 1 limit 11000))") > 10_000


def _rolled_back(db: Db) -> None:
    for _ in range(3):
        with db.transaction(force_rollback=True):
            fill(db, 10_000)
        fill(db, 4000)


def _one_parked_in_ten(db: Db) -> None:
    fill(db, 110_000, ", delay => '1 h'")
    some = "select message_id from howdah.audit_messages where queue = 'q' and hashint8(message_id) % 10 <> 0"
    assert one(db, f"select howdah.discard('q', array({some}))") > 90_000


def _thin_head(db: Db) -> None:
    """What is left of long ago, then a burst."""
    for _ in range(300):
        fill(db, 1)
        skip(db, 5000)
    fill(db, 25_000)


def _thin_tail(db: Db) -> None:
    fill(db, 12_000)
    for _ in range(300):
        fill(db, 1)
        skip(db, 1000)


SHAPES = [
    _clusters,
    _a_straggler_in_front,
    _random_priorities,
    _thinned,
    _thinned_priorities,
    _rolled_back,
    _one_parked_in_ten,
    _thin_head,
    _thin_tail,
]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__.strip("_"))
def test_an_estimate_is_near_whatever_was_taken_in_between(db: Db, shape: Callable[[Db], None]) -> None:
    shape(db)
    there = one(db, "select count(*) from howdah.audit_messages where queue = 'q'")
    live, parked, *_others, exact, _age = stats(db)
    assert not exact
    assert close(live + parked, there, within=0.3 if shape in (_thin_head, _thin_tail) else 0.1), there


@pytest.mark.slow
def test_an_estimate_is_never_below_what_was_found(db: Db) -> None:
    """Parked messages whose numbers say nothing of where they lie, for they came from elsewhere."""
    one(db, "select howdah.create_queue('other')")
    one(db, "select cardinality(howdah.send_batch('other', array(select 'x' from generate_series(1, 11000))))")
    held = "array(select message_id from howdah.audit_messages where queue = %s)"
    assert one(db, f"select howdah.move_messages('other', {held}, 'q')", ("other",)) == 11_000
    assert one(db, f"select howdah.park_messages('q', {held})", ("q",)) == 11_000
    assert stats(db)[3] is False
    assert stats(db)[1] >= 10_001


@pytest.mark.slow
def test_the_dead_of_a_long_exception_destination_are_estimated_by_origin(db: Db, clock: Clock) -> None:
    for queue, number in (("q", 18_000), ("other", 6000)):
        if queue == "other":
            one(db, "select howdah.create_queue('other')")
        one(db, """select howdah.alter_queue(%s, '{"process_expired": true}')""", (queue,))
        one(
            db,
            (
                "select cardinality(howdah.send_batch(%s, array(select 'x'"
                " from generate_series(1, %s)), time_to_live => '1 s'))"
            ),
            (queue, number),
        )
    clock.advance(1)
    while one(db, "select howdah.maintain_expired()"):
        pass
    dead = stats(db)
    assert dead[3] is False
    assert close(dead[2], 18_000, within=0.1)
    assert close(one(db, "select dead from howdah.queue_stats('other')"), 6000, within=0.2)
    one(db, "select howdah.maintain_backlog()")
    clock.advance(5)
    assert stats(db) == (0, 0, 18_000, False, timedelta(seconds=5))
    assert one(db, "select live from howdah.queue_stats(%s)", (SYSTEM,)) == 24_000
    one(db, "select howdah.create_queue('new')")
    assert one(db, "select exact from howdah.queue_stats('new')") is False, "its dead may have come since"


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


@pytest.mark.slow
def test_the_parked_of_many_origins_in_one_place_are_estimated(db: Db) -> None:
    """Parked messages whose numbers lie a thousand to a position, for they came from as many queues."""
    one(db, "select count(howdah.create_queue('many' || g)) from generate_series(1, 900) g")
    one(
        db,
        (
            "select count(howdah.send_batch('many' || g, array(select 'x' from generate_series(1, 12))))"
            " from generate_series(1, 900) g"
        ),
    )
    held = "array(select message_id from howdah.audit_messages where queue = {})"
    moved = "select count(howdah.move_messages('many' || g, {}, 'q')) from generate_series(1, 900) g"
    one(db, moved.format(held.format("'many' || g")))
    all_of_q = held.format("'q'")
    one(db, f"select howdah.park_messages('q', {all_of_q})")
    live, parked, *_others = stats(db)
    assert live == 0
    assert close(parked, 10_800, within=0.1)


@pytest.mark.slow
def test_the_dead_are_never_fewer_than_were_counted(db: Db, clock: Clock) -> None:
    """A short block of another queue's, which no sample need meet, among the first of a long exception destination."""
    one(db, "select howdah.create_queue('other')")
    for queue, number in (("q", 3000), ("other", 90), ("q", 10_000)):
        one(db, """select howdah.alter_queue(%s, '{"process_expired": true}')""", (queue,))
        one(
            db,
            (
                "select cardinality(howdah.send_batch(%s, array(select 'x'"
                " from generate_series(1, %s)), time_to_live => '1 s'))"
            ),
            (queue, number),
        )
        clock.advance(1)
        while one(db, "select howdah.maintain_expired()"):
            pass
    assert one(db, "select dead from howdah.queue_stats('other')") >= 90


@pytest.mark.parametrize("first", [1, 5, 999_999_999_999])
@pytest.mark.parametrize("length", [1, 7, 19, 20, 21, 2000, 1_000_003])
@pytest.mark.parametrize("parts", [2, 20])
def test_parts_cover_a_stretch_without_overlap_and_are_entered_in_their_first_half(
    db: Db, first: int, length: int, parts: int
) -> None:
    query = (
        b"select p.first, p.last, howdah._sample_start(p.n, p.first, p.last)"
        b" from howdah._sample_parts(%s, %s, %s) p order by 1"
    )
    rows = db.execute(query, (first, first + length - 1, parts)).fetchall()
    assert [row[0] for row in rows] == [first, *(last + 1 for _, last, _ in rows[:-1])]
    assert rows[-1][1] == first + length - 1
    assert all(begin <= somewhere <= (begin + last) / 2 for begin, last, somewhere in rows)
