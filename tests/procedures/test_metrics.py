"""Metrics: what they count, and that totals never go back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from support import SYSTEM, Clock, Connect, Db, deliver_and_fail, fail, one, receive, refused

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
