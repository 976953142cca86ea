"""Metrics show what lies in the queues and what happens to it."""

from __future__ import annotations

import json

import pytest
from metrics_support import figure, fold, samples, totals, work
from support import SYSTEM, Clock, Connect, Db, deliver_and_fail, one, receive, refused

STATES = ("ready", "waiting", "leased", "dead")

OUTCOMES = ("consumed", "moved", "expired", "discarded")


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.behaviour("IMQ-04")
def test_metrics_show_what_came_in_and_went_out_of_each_destination_and_of_all(db: Db) -> None:
    work(db)
    fold(db)
    found = samples(db)
    assert figure(found, "howdah_queue_messages_enqueued_total", queue="q") == 3
    assert figure(found, "howdah_queue_messages_dequeued_total", queue="q", outcome="consumed") == 1
    assert figure(found, "howdah_queue_failures_total", queue="q", error_class="ValueError") == 1
    assert figure(found, "howdah_messages_enqueued_total") == 3
    assert figure(found, "howdah_messages_dequeued_total", outcome="consumed") == 1
    assert figure(found, "howdah_queue_messages", queue="q", state="ready") == 2
    assert figure(found, "howdah_messages", state="ready") == 2
    assert figure(found, "howdah_workers") == 1


def dead_message(db: Db, clock: Clock) -> None:
    """One message dies and lies in its exception destination for an hour."""
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.send('q', 'x')")
    assert deliver_and_fail(db)[1] == "moved"
    clock.advance(3600)
    fold(db)


def engine_figures(db: Db) -> tuple[float | None, ...]:
    """Of the whole engine: how many messages are ready and dead, and the age of the oldest."""
    found = samples(db)
    ready, dead = (figure(found, "howdah_messages", state=state) for state in ("ready", "dead"))
    return ready, dead, figure(found, "howdah_oldest_message_age_seconds")


def test_a_dead_message_is_not_ready_and_does_not_wait(db: Db, clock: Clock) -> None:
    dead_message(db, clock)
    assert engine_figures(db) == (0, 1, 0)
    found = samples(db)
    assert figure(found, "howdah_queue_messages", queue=SYSTEM, state="ready") == 1, "it is received there"


def test_what_is_sent_to_an_exception_destination_itself_is_ready(db: Db, clock: Clock) -> None:
    dead_message(db, clock)
    one(db, "select howdah.create_queue('repair')")
    one(db, """select howdah.alter_queue('q', '{"exception_mode": "named", "exception_queue": "repair"}')""")
    one(db, "select howdah.send('repair', 'x')")
    one(db, "select howdah.send('repair', 'x', delivery_mode => 'non-persistent')")
    one(db, "select howdah.send('q', 'x')")
    assert deliver_and_fail(db)[1] == "moved"
    clock.advance(60)
    fold(db)
    assert engine_figures(db) == (2, 2, 60)


def test_a_dead_message_that_an_operator_moved_to_another_queue_waits_there(db: Db, clock: Clock) -> None:
    dead_message(db, clock)
    one(db, "select howdah.create_queue('again')")
    assert one(db, "select howdah.move_all(%s, 'again')", (SYSTEM,)) == 1
    fold(db)
    assert engine_figures(db) == (1, 0, 3600)


@pytest.mark.behaviour("AMQ-17")
def test_each_counter_of_a_queue_has_a_metric_that_follows_what_happens(db: Db, clock: Clock) -> None:
    """QueueSize, EnqueueCount, DequeueCount, ExpiredCount, InFlightCount, ConsumerCount and so on of ActiveMQ."""
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 1}')""")
    for extra in ("", ", delay => '1 h'", ", time_to_live => '1 s'", ", delivery_mode => 'non-persistent'"):
        one(db, f"select howdah.send('q', 'x'{extra})")
    assert deliver_and_fail(db, error_class="ValueError")[1] == "moved"
    clock.advance(1)
    assert len(receive(db)) == 1
    gone = one(db, "select howdah.send('q', 'x')")
    receive(db, n=2, verb="browse")
    one(db, "select howdah.discard('q', %s)", ([gone],))
    one(db, "select howdah.send_batch('q', array['a', 'b'])")
    one(db, "select count(*) from howdah.lease('q', 1, '1 hour')")
    one(db, "select howdah.register_worker('w', 'h', 1, 2, array['q'])")
    one(db, "select howdah.open_consumer('q')")
    clock.advance(5)
    for counted in (False, True):
        if counted:
            fold(db)
        found = samples(db)
        states = {s: figure(found, "howdah_queue_messages", queue="q", state=s) for s in STATES}
        assert states == {"ready": 1, "waiting": 1, "leased": 1, "dead": 1}, counted
        assert figure(found, "howdah_queue_oldest_message_age_seconds", queue="q") == 5
        assert figure(found, "howdah_queue_workers", queue="q") == 1
        assert figure(found, "howdah_queue_consumers", queue="q") == 1
    outcomes = {o: figure(found, "howdah_queue_messages_dequeued_total", queue="q", outcome=o) for o in OUTCOMES}
    assert outcomes == {"consumed": 1, "moved": 1, "expired": 1, "discarded": 1}
    assert figure(found, "howdah_queue_messages_enqueued_total", queue="q") == 7
    assert figure(found, "howdah_queue_failures_total", queue="q", error_class="ValueError") == 1
    assert figure(found, "howdah_queue_messages_enqueued_total", queue=SYSTEM) == 1


def test_histograms_count_waits_and_handlers_by_their_bounds(db: Db, clock: Clock) -> None:
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c', 'd'])")
    clock.advance(10)
    receive(db, n=3)
    clock.advance(100_000)
    receive(db)
    worker = one(db, "select howdah.register_worker('w', 'h', 1, 2, array['q'])")
    counts = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, *([0] * 20), 2]
    figures = [{"queue": "q", "handled": 6, "failed": 0, "busy_seconds": 7.5, "handling_counts": counts}]
    one(db, "select howdah.record_worker_figures(%s, 60, %s)", (worker, json.dumps(figures)))
    for times in (1, 1):
        fold(db)
        found = totals(db)
        for prefix, labels in (("howdah_", {}), ("howdah_queue_", {"queue": "q"})):
            wait = {le: figure(found, f"{prefix}wait_seconds_bucket", **labels, le=le) for le in ("5", "10", "86400")}
            assert wait == {"5": 0, "10": 3, "86400": 3}
            assert figure(found, f"{prefix}wait_seconds_bucket", **labels, le="+Inf") == 4
            assert figure(found, f"{prefix}wait_seconds_count", **labels) == 4
            assert figure(found, f"{prefix}wait_seconds_sum", **labels) == 100_040
            under = {float(json.loads(text)["le"]): value for (name, text), value in found.items()
                     if name == f"{prefix}handler_seconds_bucket"}  # fmt: skip
            assert [under[0.000064], under[0.001024], under[1073.741824], under[float("inf")]] == [1, 4, 4, 6]
            assert figure(found, f"{prefix}handler_seconds_sum", **labels) == 7.5 * times


def test_the_busiest_queues_are_shown_and_the_engine_counts_them_all(db: Db) -> None:
    for name, number in (("busy", 3), ("busier", 5)):
        one(db, "select howdah.create_queue(%s)", (name,))
        one(db, "select howdah.send_batch(%s, array(select 'x' from generate_series(1, %s)))", (name, number))
    fold(db)

    def shown(most: int) -> list[str]:
        query = "select labels ->> 'queue' from howdah.metrics(%s::integer) where name = 'howdah_queue_workers'"
        return [name for (name,) in db.execute(query, (most,)).fetchall()]

    assert shown(0) == []
    assert shown(1) == ["busier"]
    assert sorted(shown(2)) == ["busier", "busy"]
    assert figure(samples(db, 1), "howdah_messages", state="ready") == 8
    assert figure(samples(db, 1), "howdah_messages_enqueued_total") == 8


def test_lag_and_the_engines_state_are_among_the_metrics(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.send_batch('t', array['a', 'b'])")
    found = samples(db)
    assert figure(found, "howdah_subscription_behind", subscription="t::s") == 2
    assert figure(found, "howdah_subscription_lag_seconds", subscription="t::s") is not None
    assert figure(found, "howdah_audit_passed") is None, "there was no audit"
    assert figure(found, "howdah_engine_state", state="running") == 1
    one(db, "select howdah.pause_engine()")
    assert figure(samples(db), "howdah_engine_state", state="paused") == 1


def test_an_open_transaction_of_another_session_shows_in_the_horizon_of_vacuum(db: Db, connect: Connect) -> None:
    other = connect()
    other.execute("begin isolation level repeatable read; select from howdah.destinations")
    for n in range(3):
        one(db, "select howdah.send('q', %s::text)", (str(n),))
    assert (figure(samples(db), "howdah_vacuum_horizon_transactions") or 0) >= 3
    other.execute("rollback")


def test_metrics_are_for_those_who_may_browse(db: Db, connect: Connect) -> None:
    for role in ("howdah_browser", "howdah_auditor", "howdah_admin"):
        assert figure(samples(connect(role)), "howdah_queues") == 2
    for role in ("howdah_producer", "howdah_consumer"):
        refused(connect(role), "42501", "select howdah.metrics()")
    refused(connect("howdah_browser"), "42501", "select howdah.reset_metrics()")
    refused(db, "HD005", "select howdah.metrics(-1)")
    refused(db, "HD005", "select howdah.metrics(null)")
