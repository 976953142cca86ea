"""Figures of workers: what is recorded, refused, kept and shown."""

import json
from typing import Any

import pytest
from support import Clock, Connect, Db, one, refused

DAY = 86_400
QUEUE: dict[str, Any] = {
    "queue": "q",
    "handled": 3,
    "failed": 1,
    "busy_seconds": 0.25,
    "handling_counts": [0] * 31 + [4],
}


@pytest.fixture
def worker(db: Db) -> str:
    return str(one(db, "select howdah.register_worker('w', 'h', 1, 1, array['q'])"))


def record(db: Db, worker: str, *figures: Any, seconds: float = 60) -> int:
    return int(one(db, "select howdah.record_worker_figures(%s, %s, %s)", (worker, seconds, json.dumps(figures))))


def test_each_queue_gets_a_row_of_the_seconds_that_end_now(db: Db, clock: Clock, worker: str) -> None:
    other = QUEUE | {"queue": "topic::sub", "listener": "l", "handled": 0}

    assert record(db, worker, QUEUE, other) == 2
    rows = db.execute(
        "select worker, queue, listener, handled, failed, busy_seconds, handling_counts, until_at = howdah.now(),"
        " extract(epoch from until_at - from_at)::integer from howdah.audit_workers order by figure_id"
    ).fetchall()
    counts = ",".join(["0"] * 31 + ["4"])
    assert rows == [
        ("w", "q", None, 3, 1, 0.25, counts, True, 60),
        ("w", "topic::sub", "l", 0, 1, 0.25, counts, True, 60),
    ]
    assert record(db, worker) == 0


IMPOSSIBLE: list[dict[str, Any]] = [
    {"queue": None}, {"queue": ""}, {"queue": 7}, {"listener": 7}, {"handled": -1}, {"handled": 1.5}, {"handled": "1"},
    {"failed": None}, {"failed": 1e15}, {"busy_seconds": -0.1}, {"busy_seconds": "NaN"}, {"handling_counts": [0] * 31},
    {"handling_counts": [0] * 33}, {"handling_counts": [-1] * 32}, {"handling_counts": [None] * 32},
    {"handling_counts": "0"}, {"handling_counts": [[0]] * 32}, {"handling_counts": {"0": 1}},
]  # fmt: skip


def test_figures_that_cannot_be_are_refused(db: Db, worker: str) -> None:
    for change in IMPOSSIBLE:
        figures = json.dumps([QUEUE, QUEUE | change])
        refused(db, "HD005", "select howdah.record_worker_figures(%s, 60, %s)", (worker, figures))
    lacking = [{name: QUEUE[name] for name in QUEUE if name != left_out} for left_out in QUEUE]
    for wrong in (
        None,
        "null",
        "{}",
        "7",
        "[7]",
        "[[]]",
        *(json.dumps([row]) for row in lacking),
        json.dumps([QUEUE] * 10_001),
    ):
        refused(db, "HD005", "select howdah.record_worker_figures(%s, 60, %s)", (worker, wrong))
    for seconds in (None, -1, 86_401, "NaN"):
        refused(db, "HD005", "select howdah.record_worker_figures(%s, %s, %s)", (worker, seconds, json.dumps([QUEUE])))
    assert one(db, "select count(*) from howdah.worker_figures") == 0


def test_only_a_registered_worker_records(db: Db, worker: str) -> None:
    db.execute("select howdah.unregister_worker(%s)", (worker,))
    for unknown in (worker, None):
        refused(db, "HD015", "select howdah.record_worker_figures(%s, 60, %s)", (unknown, json.dumps([QUEUE])))


def test_consumers_record_and_auditors_read(db: Db, connect: Connect, worker: str) -> None:
    assert record(connect("howdah_consumer"), worker, QUEUE) == 1
    assert one(connect("howdah_auditor"), "select handled from howdah.audit_workers") == 3
    for role in ("howdah_producer", "howdah_browser", "howdah_auditor"):
        refused(
            connect(role), "42501", "select howdah.record_worker_figures(%s, 60, %s)", (worker, json.dumps([QUEUE]))
        )
    refused(connect("howdah_consumer"), "42501", "select * from howdah.audit_workers")


def test_figures_are_kept_as_long_as_incidents(db: Db, clock: Clock, worker: str) -> None:
    record(db, worker, QUEUE)
    clock.advance(89 * DAY)
    record(db, worker, QUEUE)
    db.execute("select howdah.maintain_incidents()")
    assert one(db, "select count(*) from howdah.worker_figures") == 2
    clock.advance(2 * DAY)
    db.execute("select howdah.maintain_incidents()")
    assert one(db, "select count(*) from howdah.worker_figures") == 1
