"""An estimate is near the true number, whatever was taken in between."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from queue_figures_support import close, fill, skip, stats
from support import SYSTEM, Clock, Db, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


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
