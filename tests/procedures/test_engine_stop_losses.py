"""A stop loses non-persistent messages alone, wherever they lie, and the journal names them."""

from __future__ import annotations

import pytest
from stopped_engine_support import STATE, enter, stopped
from support import Db, column, one


@pytest.fixture
def queue(db: Db) -> str:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'a'::text)")
    return "q"


KEPT = "select array_agg(body order by body) from howdah.receive(%s, 9)"


def everywhere(db: Db) -> None:
    """Persistent and non-persistent messages in each place where messages lie."""
    for name in ("q", "memory", "leased", "late"):
        one(db, "select howdah.create_queue(%s, %s)", (name, '{"journal_level": "full"}'))
    one(db, "select howdah.create_topic('t')")
    for name in ("s", "failing"):
        one(db, "select howdah.subscribe('t', %s, options => '{\"redelivery_delay_ms\": 3600000}')", (name,))
    one(db, "select howdah.subscribe('t', 'shared', shared => true)")
    published = []
    for mode in ("persistent", "non-persistent"):
        for name in ("q", "memory", "leased"):
            one(db, "select howdah.send(%s, %s, delivery_mode => %s)", (name, mode, mode))
        published.append(one(db, "select howdah.send('t', %s, delivery_mode => %s)", (mode, mode)))
        one(db, "select howdah.send('late', %s, delivery_mode => %s, delay => interval '1 hour')", (mode, mode))
    one(db, "select howdah.alter_queue('memory', '{\"persistent\": false}')")
    one(db, "select howdah.send('memory', 'in memory'::text)")
    for message_id in published:
        one(db, "select outcome from howdah.record_failure('t::failing', %s, 'on purpose')", (message_id,))


@pytest.mark.slow
def test_a_resume_after_a_stop_discards_non_persistent_messages_wherever_they_lie_and_nothing_else(db: Db) -> None:
    everywhere(db)
    db.execute(b"select howdah.lease('leased', 9, interval '1 second')")
    assert stopped(db) == "stopped"
    assert one(db, "select howdah.resume_engine()") is True
    assert one(db, "select count(*) from howdah.audit_messages where nonpersistent") == 0
    for name in ("q", "memory", "leased", "t::s", "t::shared"):
        assert one(db, KEPT, (name,)) == ["persistent"], name
    waiting = "select queue, state from howdah.audit_messages where queue in ('late', 't::failing') order by queue"
    assert db.execute(waiting.encode()).fetchall() == [("late", "parked"), ("t::failing", "parked")]
    lost = "select queue, count(*) from howdah.audit_journal where event = 'lost' group by queue order by queue"
    assert db.execute(lost.encode()).fetchall() == [
        ("late", 1),
        ("leased", 1),
        ("memory", 2),
        ("q", 1),
        ("t::failing", 1),
        ("t::s", 1),
        ("t::shared", 1),
    ]
    assert set(column(db, "select reason from howdah.audit_journal where event = 'lost'")) == {"engine stopped"}


def test_what_is_sent_after_the_resume_is_not_lost_by_it(db: Db, queue: str) -> None:
    for _ in range(2):
        one(db, "select howdah.send('q', 'n'::text, delivery_mode => 'non-persistent')")
        assert stopped(db) == "stopped"
        one(db, "select howdah.resume_engine()")
    one(db, "select howdah.send('q', 'n'::text, delivery_mode => 'non-persistent')")
    assert one(db, "select howdah.resume_engine()") is False
    assert sorted(column(db, "select body from howdah.receive('q', 9)")) == ["a", "n"]
    assert one(db, "select count(*) from howdah.audit_journal where event = 'lost'") == 2


def test_a_resume_that_is_rolled_back_has_discarded_nothing(db: Db, queue: str) -> None:
    one(db, "select howdah.send('q', 'n'::text, delivery_mode => 'non-persistent')")
    assert stopped(db) == "stopped"
    with db.transaction(force_rollback=True):
        one(db, "select howdah.resume_engine()")
    assert one(db, STATE) == "stopped"
    assert one(db, "select count(*) from howdah.audit_messages") == 2
    one(db, "select howdah.resume_engine()")
    assert one(db, "select count(*) from howdah.audit_messages") == 1


@pytest.mark.parametrize("state", ["paused", "quiesced"])
def test_a_resume_without_a_stop_discards_nothing(db: Db, queue: str, state: str) -> None:
    one(db, "select howdah.send('q', 'n'::text, delivery_mode => 'non-persistent')")
    enter(db, state)
    one(db, "select howdah.resume_engine()")
    assert sorted(column(db, "select body from howdah.receive('q', 9)")) == ["a", "n"]


def unread(db: Db) -> dict[str, int]:
    """Publish to subscriptions that read, choose and leave unread. How many non-persistent ones each has not read."""
    one(db, "select howdah.create_topic('t')")
    for name in ("none", "first"):
        one(db, "select howdah.subscribe('t', %s)", (name,))
    one(db, "select howdah.subscribe('t', 'some', selector => 'n > 1', shared => true)")
    one(db, "select howdah.subscribe('t', 'silent', options => '{\"journal_level\": \"off\"}')")
    for n in (1, 2, 3):
        one(
            db,
            "select howdah.send('t', %s, headers => jsonb_build_object('n', %s::int), delivery_mode => %s)",
            (str(n), n, "non-persistent"),
        )
        one(db, "select howdah.send('t', 'stays'::text)")
    one(db, "select body from howdah.receive('t::first')")
    return {"t::none": 3, "t::first": 2, "t::some": 2}


def test_what_a_stop_loses_of_a_topic_unread_is_in_the_journal_for_each_that_would_have_got_it(db: Db) -> None:
    wanted = unread(db)
    lost = "select queue, count(*) from howdah.audit_journal where event = 'lost' group by queue"
    assert stopped(db) == "stopped"
    one(db, "select howdah.resume_engine()")
    assert dict(db.execute(lost.encode()).fetchall()) == wanted
    assert column(db, "select distinct reason from howdah.audit_journal where event = 'lost'") == ["engine stopped"]
    assert column(db, "select body from howdah.receive('t::none', 9)") == ["stays"] * 3
    assert stopped(db) == "stopped"
    one(db, "select howdah.resume_engine()")
    assert dict(db.execute(lost.encode()).fetchall()) == wanted


def test_what_a_restart_loses_of_a_topic_unread_is_in_the_journal_once(db: Db, queue: str) -> None:
    wanted = unread(db)
    lost = "select queue, count(*) from howdah.audit_journal where event = 'lost' group by queue"
    for _ in range(2):
        # As if the server had been started since.
        for table in ("engine", "topic_nonpersistent_0", "topic_nonpersistent_1", "topic_nonpersistent_2"):
            db.execute(f"update howdah.{table} set boot = boot - interval '1 hour'".encode())
        one(db, "select howdah.purge_queue(%s)", (queue,))
        assert dict(db.execute(lost.encode()).fetchall()) == wanted
    assert column(db, "select body from howdah.receive('t::none', 9)") == ["stays"] * 3
