"""Metrics: what they count, and that totals never go back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
import pytest
from links_support import Steps, create
from support import SYSTEM, Clock, Connect, Db, deliver_and_fail, one, receive, refused

DAY = 86_400
STATES = ("ready", "waiting", "leased", "dead")
OUTCOMES = ("consumed", "moved", "expired", "discarded")


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")


def samples(db: Db, queues: int = 100) -> dict[tuple[str, str], float]:
    """The samples by name and labels."""
    rows = db.execute("select name, labels::text, value from howdah.metrics(%s::integer)", (queues,)).fetchall()
    found = {(str(name), str(labels)): float(value) for name, labels, value in rows}
    assert len(found) == len(rows), "no sample comes twice"
    return found


def figure(found: Mapping[tuple[str, str], float], name: str, **labels: str) -> float | None:
    matching = [value for (key, text), value in found.items() if key == name and json.loads(text) == labels]
    return matching[0] if matching else None


def fold(db: Db) -> None:
    one(db, "select howdah.maintain_totals()")
    one(db, "select howdah.maintain_backlog()")


def totals(db: Db) -> dict[tuple[str, str], float]:
    return {
        key: value for key, value in samples(db).items() if key[0].endswith(("_total", "_bucket", "_count", "_sum"))
    }


def work(db: Db) -> None:
    """Send three messages, consume one, fail one, and record the work of a worker."""
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    assert len(receive(db)) == 1
    deliver_and_fail(db, error_class="ValueError")
    worker = one(db, "select howdah.register_worker('w', 'h', 1, 2, array['q'])")
    figures: list[dict[str, Any]] = [
        {"queue": "q", "handled": 1, "failed": 1, "busy_seconds": 0.5, "handling_counts": [0] * 19 + [2] + [0] * 12}
    ]
    one(db, "select howdah.record_worker_figures(%s, 60, %s)", (worker, json.dumps(figures)))


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


def test_the_last_audit_shows_its_age_its_findings_and_its_verdicts(db: Db, clock: Clock) -> None:
    assert audited(db, "none", p="proved", q="proved") == (0, 0, 0, 1)
    clock.advance(60)
    assert audited(db, "error", errors=5, warnings=2, q="not balanced") == (0, 5, 2, 0)
    assert verdicts(db) == {"proved": 1, "not balanced": 1}, "p has the verdict of the audit before"
    clock.advance(60)
    failed = "select howdah.record_audit(howdah.now(), 1, 'failed', reason => 'no Java')"
    one(db, failed)
    assert audit(db) == (60, 5, 2, 0), "that was no audit"
    assert audited(db, "warning", warnings=1, p="proved", q="proved") == (0, 0, 1, 1)
    assert verdicts(db) == {"proved": 2}


def audited(db: Db, severity: str, errors: int = 0, warnings: int = 0, **verdicts: str) -> tuple[float | None, ...]:
    """Record an audit of now. Returns what is shown then."""
    queues = json.dumps([{"queue": queue, "verdict": verdict} for queue, verdict in verdicts.items()])
    for queue in verdicts.keys() - {"q"}:
        db.execute(
            "select howdah.create_queue(%s) where not exists (select from howdah.list_queues() l where l.queue = %s)",
            (queue, queue),
        )
    one(
        db,
        "select howdah.record_audit(howdah.now(), 0, %s, howdah.now(), errors => %s, warnings => %s, queues => %s)",
        (severity, errors, warnings, queues),
    )
    return audit(db)


def audit(db: Db) -> tuple[float | None, ...]:
    """Of the last audit: its age in seconds, its errors and warnings, and whether it passed."""
    found = samples(db)
    findings = (figure(found, "howdah_audit_findings", severity=severity) for severity in ("error", "warning"))
    return (figure(found, "howdah_audit_age_seconds"), *findings, figure(found, "howdah_audit_passed"))


def verdicts(db: Db) -> dict[str, float]:
    """How many queues have each verdict."""
    found = {key: value for key, value in samples(db).items() if key[0] == "howdah_audit_queues"}
    return {json.loads(labels)["verdict"]: value for (_, labels), value in found.items()}


def test_an_open_transaction_of_another_session_shows_in_the_horizon_of_vacuum(db: Db, connect: Connect) -> None:
    other = connect()
    other.execute("begin isolation level repeatable read; select from howdah.destinations")
    for n in range(3):
        one(db, "select howdah.send('q', %s::text)", (str(n),))
    assert (figure(samples(db), "howdah_vacuum_horizon_transactions") or 0) >= 3
    other.execute("rollback")


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


def test_metrics_are_for_those_who_may_browse(db: Db, connect: Connect) -> None:
    for role in ("howdah_browser", "howdah_auditor", "howdah_admin"):
        assert figure(samples(connect(role)), "howdah_queues") == 2
    for role in ("howdah_producer", "howdah_consumer"):
        refused(connect(role), "42501", "select howdah.metrics()")
    refused(connect("howdah_browser"), "42501", "select howdah.reset_metrics()")
    refused(db, "HD005", "select howdah.metrics(-1)")
    refused(db, "HD005", "select howdah.metrics(null)")


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
