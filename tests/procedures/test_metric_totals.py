"""Totals count everything once and never go back."""

from __future__ import annotations

import json

import pytest
from metrics_support import figure, fold, samples, totals, work
from support import Clock, Connect, Db, one, receive

DAY = 86_400


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


@pytest.mark.slow
def test_totals_do_not_go_back_when_retention_deletes_what_they_counted(db: Db, clock: Clock) -> None:
    work(db)
    receive(db, n=2)
    fold(db)
    before = totals(db)
    assert figure(before, "howdah_failures_total", error_class="ValueError") == 1
    clock.advance(4000 * DAY)
    one(db, "select howdah.maintain_journal()")
    one(db, "select howdah.maintain_incidents()")
    for table in ("journal", "poison_details", "worker_figures"):
        assert one(db, f"select count(*) from howdah.{table}") == 0
    fold(db)
    assert totals(db) == before


def test_retention_counts_what_nobody_has_added_up_before_it_deletes_it(db: Db, clock: Clock) -> None:
    one(db, "select howdah.maintain_totals()")
    work(db)
    receive(db, n=2)
    clock.advance(4000 * DAY)
    one(db, "select howdah.maintain_incidents()")
    one(db, "select howdah.maintain_journal()")
    found = totals(db)
    assert figure(found, "howdah_failures_total", error_class="ValueError") == 1
    assert figure(found, "howdah_messages_dequeued_total", outcome="consumed") == 3
    assert figure(found, "howdah_handler_seconds_count") == 2


def test_what_commits_after_a_later_transaction_was_counted_is_counted_once(db: Db, connect: Connect) -> None:
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    late = connect()
    late.execute("begin; select from howdah.receive('q')")
    assert len(receive(db)) == 1
    for done in (1, 1):
        fold(db)
        assert figure(totals(db), "howdah_messages_dequeued_total", outcome="consumed") == done
    late.execute("commit")
    for done in (2, 2):
        fold(db)
        found = totals(db)
        assert figure(found, "howdah_messages_dequeued_total", outcome="consumed") == done
        assert figure(found, "howdah_messages_enqueued_total") == 3


def test_without_a_journal_totals_miss_what_left_but_do_not_go_back(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"journal_level": "off"}')""")
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    fold(db)
    receive(db, n=2)
    fold(db)
    assert figure(totals(db), "howdah_queue_messages_enqueued_total", queue="q") == 3
    one(db, "select howdah.send('q', 'd'::text)")
    fold(db)
    assert figure(totals(db), "howdah_queue_messages_enqueued_total", queue="q") == 4


def test_a_dropped_queue_stays_in_the_totals_of_the_engine(db: Db) -> None:
    work(db)
    receive(db, n=2)
    fold(db)
    before = {key: value for key, value in totals(db).items() if "queue" not in key[1]}
    one(db, "select howdah.drop_queue('q')")
    fold(db)
    after = totals(db)
    assert {key: after.get(key) for key in before} == before


def test_totals_begin_anew_when_an_administrator_says_so(db: Db) -> None:
    work(db)
    fold(db)
    query = "select distinct created from howdah.metrics() where created is not null"
    before = one(db, query)
    began = one(db, "select howdah.reset_metrics()")
    assert began > before
    fold(db)
    assert one(db, query) == began
    found = totals(db)
    assert figure(found, "howdah_messages_dequeued_total", outcome="consumed") == 0
    assert figure(found, "howdah_messages_enqueued_total") == 2, "what lies there"


def test_figures_that_workers_made_up_break_no_total(db: Db) -> None:
    for _ in range(3):
        work(db)
        # As many records at the most that one may say would take minutes.
        db.execute("update howdah.worker_figures set handling_counts = array_fill(9000000000000000000, array[32])")
        fold(db)
        found = samples(db)
        handled = 32 * 9e18
        assert figure(found, "howdah_handler_seconds_count") == pytest.approx(handled)
        assert figure(found, "howdah_queue_handler_seconds_bucket", queue="q", le="+Inf") == pytest.approx(handled)


def test_a_whole_number_may_be_written_with_a_point(db: Db) -> None:
    worker = one(db, "select howdah.register_worker('w', 'h', 1, 2, array['q'])")
    figures = [{"queue": "q", "handled": 1.0, "failed": 0.0, "busy_seconds": 1, "handling_counts": [1.0] + [0.0] * 31}]
    assert one(db, "select howdah.record_worker_figures(%s, 60, %s)", (worker, json.dumps(figures))) == 1
    fold(db)
    assert figure(samples(db), "howdah_handler_seconds_count") == 1
