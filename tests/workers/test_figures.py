"""Workers record what they did, each minute and at their end, and never anything twice."""

import pytest
from support import Db, one, wait_until
from workers_support import StartWorkers, Work

from howdah.workers.figures import Figures, Tally


@pytest.mark.slow
def test_a_worker_that_ends_has_recorded_all_that_it_did(start: StartWorkers, jobs: Work, db: Db) -> None:
    workers = start(sessions=2)
    jobs.send(*["plain"] * 30)
    jobs.wait_empty()
    jobs.send("fail", queue="single")
    wait_until(lambda: one(db, "select count(*) from howdah.poison_details") >= 1)
    workers.stop()
    workers.wait_ended()

    rows = db.execute(
        "select queue, sum(handled), sum(failed) > 0, count(distinct worker), min(from_at) < max(until_at),"
        " sum(busy_seconds) > 0 from howdah.worker_figures group by queue order by queue"
    ).fetchall()
    assert rows == [("single", 0, True, 1, True, True), ("work", 30, False, 1, True, True)]
    counted = one(
        db,
        "select sum(n) from howdah.worker_figures f, unnest(f.handling_counts) n where f.queue = 'work'",
    )
    assert counted >= 30


def test_calls_are_counted_by_powers_of_two_of_a_microsecond() -> None:
    tally = Tally("q")
    for microseconds in (0, 0.9, 1, 1.9, 2, 3, 4, 1000, 2**30, 2**40):
        tally.call(microseconds / 1_000_000)

    counts = dict(enumerate(tally.calls))
    assert {place: count for place, count in counts.items() if count} == {0: 2, 1: 2, 2: 2, 3: 1, 10: 1, 31: 2}


def test_only_what_is_new_is_recorded_and_what_could_not_be_is_recorded_later(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("howdah.workers.figures.time.monotonic", lambda: now)
    sessions = [Tally("q"), Tally("q"), Tally("idle")]
    figures = Figures(sessions)
    written: list[tuple[float, list[tuple[str, int, int]]]] = []

    def write(seconds: float, rows: list[dict[str, int | str]]) -> None:
        if broken:
            raise ConnectionError
        written.append((seconds, [(str(row["queue"]), int(row["handled"]), int(row["failed"])) for row in rows]))

    broken = False
    sessions[0].handled, sessions[1].handled, sessions[1].failed = 3, 4, 1
    figures.record(write)
    assert written == []  # not a minute yet
    now += 60
    figures.record(write)
    now += 60
    figures.record(write)  # nothing new
    broken = True
    sessions[0].handled += 5
    now += 60
    with pytest.raises(ConnectionError):
        figures.record(write)
    broken = False
    figures.record(write)  # not before a minute has gone again
    now += 60
    figures.record(write)
    sessions[2].failed += 1
    figures.record(write, at_once=True)
    figures.record(write, at_once=True)

    assert written == [(60, [("q", 7, 1)]), (120, [("q", 5, 0)]), (0, [("idle", 0, 1)])]
