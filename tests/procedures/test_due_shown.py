"""Whoever looks at a queue sees a delayed message from the time at which it is due."""

from __future__ import annotations

import pytest
from due_support import send, take
from support import Clock, Db, column, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def browsed(db: Db, **asked: object) -> list[int]:
    extra = "".join(f', "{name}" => %s' for name in asked)
    return column(db, f"select message_id from howdah.browse('q'{extra})", tuple(asked.values()))


@pytest.mark.parametrize("mode", ["persistent", "non-persistent"])
def test_browse_shows_a_delayed_message_from_its_time_on(db: Db, clock: Clock, mode: str) -> None:
    (delayed,) = send(db, 1, "1 min", delivery_mode=mode, correlation_ids=["c"], headers=['{"n": 1}'])
    later = send(db, 1, "1 hour")
    ready = [one(db, "select howdah.send('q', 'x')")]
    asked: list[dict[str, object]] = [{"only_id": delayed}, {"selector": "n = 1"}, {"correlation_id": "c"}]
    assert browsed(db) == ready
    assert [browsed(db, **one_of) for one_of in asked] == [[], [], []]
    clock.advance(60)
    assert browsed(db) == [delayed, *ready]
    assert [browsed(db, **one_of) for one_of in asked] == [[delayed]] * 3
    assert browsed(db, max_messages=1) == [delayed]
    after = "select priority, position from howdah.browse('q', 1)"
    priority, position = db.execute(after).fetchone()  # type: ignore[misc]
    assert browsed(db, after_priority=priority, after_position=position) == ready
    assert take(db, 10) == [delayed, *ready]
    clock.advance(3600)
    assert browsed(db) == later


@pytest.mark.parametrize("which", ["", ", selector => 'n = 1'", ", only_id => m", ", correlation_id => 'c'"])
@pytest.mark.parametrize("groups", ["none", "transaction"])
def test_browse_shows_what_comes_back_from_a_lease_as_the_next_receive_gives_it(
    db: Db, clock: Clock, which: str, groups: str
) -> None:
    one(
        db,
        "select howdah.alter_queue('q', jsonb_build_object('redelivery_delay_ms', 0, 'message_groups', %s::text))",
        (groups,),
    )
    headers = '{"n": 1, "JMSXGroupID": "g"}'
    number = one(db, "select howdah.send('q', 'x', headers => %s::jsonb, correlation_id => 'c')", (headers,))
    one(db, "select count(*) from howdah.lease('q', 1, '1 min')")
    columns = "message_id, delivery_count, redelivered"
    shown = f"select {columns} from (select {number}::bigint as m) g, howdah.browse('q'{which})"
    assert db.execute(shown.encode()).fetchall() == []
    clock.advance(61)
    assert db.execute(shown.encode()).fetchall() == [(number, 2, True)]
    assert db.execute(f"select {columns} from howdah.receive('q')".encode()).fetchall() == [(number, 2, True)]
    assert db.execute(shown.encode()).fetchall() == []


def test_the_oldest_age_counts_from_the_time_at_which_a_message_was_due(db: Db, clock: Clock) -> None:
    ages = "select extract(epoch from oldest_age)::integer from howdah.queue_stats('q')"
    counted = "select extract(epoch from howdah.now() - oldest_sent_at)::integer, waiting from howdah.backlog_figures"
    told = """
        select value from howdah.metrics()
        where name = 'howdah_queue_oldest_message_age_seconds' and labels ->> 'queue' = 'q'"""
    send(db, 1, "1 min")
    clock.advance(59)
    assert one(db, ages) is None
    clock.advance(31)
    assert one(db, ages) == 30
    one(db, "select howdah.maintain_backlog()")
    assert db.execute(counted).fetchall() == [(30, 0)]
    assert one(db, told) == 30
    one(db, "select howdah.send('q', 'x')")
    clock.advance(10)
    assert one(db, ages) == 40
    take(db, 10)
    assert one(db, ages) is None
