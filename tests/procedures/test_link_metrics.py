"""Metrics show whether a link is up, how long its target is away and how much it forwarded."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from links_support import Steps, create
from metrics_support import figure, samples
from support import Clock, Connect, Db, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def test_a_link_is_up_or_away_and_counts_what_it_forwarded(
    db: Db, dsn: str, clock: Clock, connect: Connect, new_engine: Callable[[], str]
) -> None:
    other = new_engine()
    with psycopg.connect(other, autocommit=True) as target:
        one(target, "select howdah.create_queue('in')")
    create(db, queue="q")
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    assert link(db) == (0, 0, 0), "nobody carries its messages yet"
    steps = Steps(dsn, other)
    try:
        assert [steps.forward(2), steps.forward(2)] == [2, 1]
        assert link(db) == (1, 0, 3)
        assert one(db, "select howdah.link_away('to_b', 'me', 'no route')")
        clock.advance(7)
        assert link(db) == (0, 7, 3)
        one(db, "select howdah.send('q', 'd')")
        steps.forward_all()
        assert link(db) == (1, 0, 4), "the total goes on"
        one(db, "select howdah.pause_link('to_b')")
        assert link(db) == (0, 0, 4)
    finally:
        steps.close()
    created = "select created from howdah.metrics() where name = 'howdah_link_forwarded_total'"
    assert one(db, created) == one(db, "select created_at from howdah.links")
    one(db, "select howdah.revoke_queue('q', 'browse', 'howdah_browser')")
    assert link(connect("howdah_browser")) == (None, None, None)


def link(db: Db) -> tuple[float | None, ...]:
    """Of the link to_b: whether it is up, for how many seconds its target is away, and what it forwarded."""
    found = samples(db)
    names = ("howdah_link_up", "howdah_link_away_seconds", "howdah_link_forwarded_total")
    return tuple(figure(found, name, link="to_b") for name in names)
