"""A random schedule of sends, batches and breaks at each step of a forwarder.

Nothing is lost, nothing doubled, and the order within each priority is kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import chance
import psycopg
import pytest
from links_support import Steps, create
from support import Connect, Db, column, one

#: `make chaos` takes more.
SCHEDULES = int(os.environ.get("HOWDAH_TEST_SCHEDULES") or 3)
EXPIRE = "update howdah.lock set expires_at = expires_at - interval '1 minute' where name = 'link:to_b'"


def send(db: Db, dice: Random, at: int) -> int:
    """Send some messages, with what may matter. Returns the next number."""
    many = dice.choice([1, 2, 10])
    for n in range(at, at + many):
        db.execute(
            "select howdah.send('out', %s, priority => %s, headers => %s, time_to_live => %s)",
            (
                str(n),
                dice.randrange(10),
                dice.choice([None, '{"JMSXGroupID": "g"}', f'{{"n": {n}}}']),
                dice.choice([None, None, "1 day"]),
            ),
        )
    return at + many


def forward_and_break(steps: Steps, dice: Random) -> bool:
    """Forward one batch, or break at one of its steps. Returns whether the connections are still good."""
    taken = steps.take(dice.choice([1, 3, 20, None]))
    if taken.state != "batch":
        steps.source.rollback()
        return True
    breaks = dice.random()
    if breaks < 0.15:
        steps.close()
        return False
    steps.arrive(taken)
    if breaks < 0.3:
        steps.close()
        return False
    if breaks < 0.35:
        steps.target.rollback()
        steps.source.rollback()
        return True
    steps.target.commit()
    if breaks < 0.55:
        steps.close()
        return False
    if breaks < 0.6:
        steps.source.rollback()
        return True
    steps.source.commit()
    return True


@pytest.mark.slow
@pytest.mark.parametrize("round_", range(SCHEDULES))
def test_a_random_schedule_loses_and_doubles_nothing(
    dsn: str, connect: Connect, new_engine: Callable[[], str], round_: int
) -> None:
    """What was sent is what arrived, once the link is left in peace."""
    dice = Random(chance.seeds(SCHEDULES)[round_])
    other = new_engine()
    a = connect()
    a.execute("select howdah.create_queue('out')")
    create(a)
    at = 0
    with psycopg.connect(other, autocommit=True) as b:
        b.execute("select howdah.create_queue('in')")
        steps = Steps(dsn, other)
        for _ in range(120):
            if dice.random() < 0.4:
                at = send(a, dice, at)
            elif not forward_and_break(steps, dice):
                a.execute(EXPIRE)
                steps.close()
                steps = Steps(dsn, other, holder=dice.choice(["me", "another"]))
        a.execute(EXPIRE)
        steps.close()
        steps = Steps(dsn, other)
        steps.forward_all()
        steps.close()
        found = column(b, "select convert_from(body, 'UTF8')::integer from howdah.msgs")
        assert sorted(found) == list(range(at))
        for rank in range(10):
            lane = "select convert_from(body, 'UTF8')::integer from howdah.msgs where rank = %s order by seq"
            assert column(b, lane, (rank,)) == sorted(column(b, lane, (rank,)))
        arrived, repeated = b.execute("select arrived, repeated from howdah.list_arrivals()").fetchall()[0]
        assert arrived == at
        assert repeated > 0
    assert one(a, "select forwarded from howdah.list_links()") == at
