"""An audit on record: held and renewed, fenced, noted whatever becomes of it.

Spark's part is replaced: it has tests of its own.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support import Clock, Connect, Db, column, one, wait_until

from howdah.audit import AnotherAudit, AuditError, AuditResult, Previous, recorded, run_recorded
from howdah.audit.result import Queue, RuleResult
from howdah.engine.errors import LockLost

FIGURES: dict[str, Any] = {name: 0 for name in Queue.__dataclass_fields__} | {
    "journal_level": "full",
    "live": 2,
    "parked": 1,
}


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, db: Db) -> Callable[..., list[dict[str, Any]]]:
    """Puts an audit without Spark in place: it does something, and finds what it is told to.

    Returns what it was called with.
    """
    db.execute("select howdah.create_queue('q')")

    def put(does: Callable[[], object] = lambda: None, verdict: str = "proved", **counts: int) -> list[dict[str, Any]]:
        calls = []

        def run_audit(dsn: str, **options: Any) -> AuditResult:
            calls.append(options)
            does()
            rules = [RuleResult(kind, kind, "", count, (), ("q",)) for kind, count in counts.items()]
            snapshot = one(db, "select pg_current_snapshot()::text")
            queue = Queue(**{**FIGURES, "queue": "q", "verdict": verdict})
            return AuditResult(
                queues=(queue,),
                rules=tuple(rules),
                rows={"messages": 3},
                taken_at=str(one(db, "select howdah.now()")),
                locked=True,
                seconds=1.0,
                read_seconds=0.5,
                output=None,
                snapshot=snapshot,
            )

        monkeypatch.setattr(recorded, "run_audit", run_audit)
        return calls

    return put


def runs(db: Db) -> list[tuple[Any, ...]]:
    return db.execute("select severity, exit_code, errors, warnings, reason from howdah.list_audits()").fetchall()


def test_what_was_found_is_recorded_by_its_severity(stand_in: Any, dsn: str, db: Db) -> None:
    for counts in ({}, {"warning": 4}, {"warning": 1, "error": 2}):
        stand_in(**counts)
        run_recorded(dsn, "me")
    assert runs(db) == [("error", 1, 2, 1, None), ("warning", 0, 0, 4, None), ("none", 0, 0, 0, None)]


def test_the_exit_code_on_record_is_the_callers(stand_in: Any, dsn: str, db: Db) -> None:
    stand_in(warning=1)
    run_recorded(dsn, "me", code_of=lambda result: 6)
    assert runs(db) == [("warning", 6, 0, 1, None)]


def test_each_audit_counts_on_from_the_last_that_was_made(stand_in: Any, dsn: str, db: Db) -> None:
    calls = stand_in()
    run_recorded(dsn, "me")
    db.execute("select howdah.record_audit(now(), 1, 'failed')")
    run_recorded(dsn, "me", partitions=3)
    assert calls[0]["previous"] is None
    previous = calls[1]["previous"]
    assert isinstance(previous, Previous)
    assert previous.closings == {"q": 3}
    assert datetime.fromisoformat(previous.taken_at) <= datetime.now(UTC)
    assert calls[1]["partitions"] == 3


def test_nobody_else_audits_meanwhile_and_anybody_afterwards(stand_in: Any, dsn: str, db: Db) -> None:
    def try_too() -> None:
        with pytest.raises(AnotherAudit, match="by me; it has the right until"):
            run_recorded(dsn, "another")

    stand_in(try_too)
    run_recorded(dsn, "me")
    stand_in()
    run_recorded(dsn, "another")
    assert len(runs(db)) == 2


def test_the_right_to_audit_is_renewed(stand_in: Any, dsn: str, db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "RENEW_SECONDS", 0.01)

    def wait_for_renewal() -> None:
        until = "select expires_at from howdah.lock where name = 'audit'"
        first = one(db, until)
        wait_until(lambda: one(db, until) > first)

    stand_in(wait_for_renewal)
    run_recorded(dsn, "me")
    assert runs(db) == [("none", 0, 0, 0, None)]


def test_an_auditor_that_was_replaced_records_nothing(stand_in: Any, dsn: str, db: Db, clock: Clock) -> None:
    def sleep() -> None:
        clock.advance(61)
        db.execute("select howdah.hold_audit('another')")

    stand_in(sleep)
    with pytest.raises(LockLost):
        run_recorded(dsn, "me")
    assert runs(db) == []
    assert one(db, "select held_by from howdah.hold_audit('me')") == "another"


@pytest.mark.parametrize(
    ("error", "noted"),
    [
        (AuditError("no Java"), [("failed", 3, 0, 0, "no Java")]),
        (KeyboardInterrupt(), [("failed", 130, 0, 0, "interrupted")]),
        (SystemExit(143), [("failed", 143, 0, 0, "interrupted")]),
        (ZeroDivisionError("a bug of ours"), []),
    ],
)
def test_an_audit_that_ends_early_is_noted_and_gives_the_right_up(
    stand_in: Any, dsn: str, db: Db, error: BaseException, noted: list[tuple[Any, ...]]
) -> None:
    def fail() -> None:
        raise error

    stand_in(fail)
    with pytest.raises(type(error)):
        run_recorded(dsn, "me")
    assert runs(db) == noted
    assert one(db, "select lock_epoch is not null from howdah.hold_audit('another')")


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("taken_at = 'infinity'", "its time is infinity"),
        ("queues = '[{}]'", "one of its queues has no name"),
        ("queues = '[3]'", "one of its queues has no name"),
        ("queues = '{}'", "its queues are no array"),
        ('queues = \'[{"queue": "q", "verdict": "proved"}]\'', "of queue q it has no whole number as live"),
        ('queues = \'[{"queue": "q", "live": 1.5, "parked": 0, "dead": 0}]\'', "no whole number as live"),
        ('queues = \'[{"queue": "q", "live": 1e30, "parked": 0, "dead": 0}]\'', "more messages than there can be"),
    ],
)
def test_an_audit_on_record_that_nobody_can_read_is_passed_over_with_a_note(
    stand_in: Any, dsn: str, db: Db, broken: str, why: str
) -> None:
    calls = stand_in()
    for _ in range(2):
        run_recorded(dsn, "me")
    last = "run_id = (select max(run_id) from howdah.audit_runs)"
    (number,) = column(db, f"update howdah.audit_runs set {broken} where {last} returning run_id")
    run_recorded(dsn, "me")
    (note,) = calls[-1]["notes"]
    assert note.startswith(f"Audit {number} on record, by ")
    assert why in note
    assert calls[-1]["previous"].snapshot == one(db, "select snapshot from howdah.audit_runs order by run_id limit 1")
    run_recorded(dsn, "me")
    assert calls[-1]["notes"] == ()
    assert [code for _, code, *_ in runs(db)] == [0] * 4


def test_after_twenty_audits_that_nobody_can_read_an_audit_is_made_all_the_same(
    stand_in: Any, dsn: str, db: Db
) -> None:
    calls = stand_in()
    run_recorded(dsn, "me")
    db.execute(
        "insert into howdah.audit_runs (started_at, finished_at, taken_at, snapshot, system_identifier, severity,"
        " exit_code, errors, warnings, rows_read,"
        " queues, rules, recorded_by) select started_at, finished_at, taken_at, snapshot, system_identifier, severity,"
        " exit_code, errors, warnings,"
        " rows_read, '[1]', rules, recorded_by from howdah.audit_runs, generate_series(1, 21)"
    )
    run_recorded(dsn, "me")
    assert (calls[-1]["previous"], len(calls[-1]["notes"])) == (None, 20)


def test_an_auditor_may_and_a_producer_may_not(stand_in: Any, dsn: str, db: Db, connect: Connect) -> None:
    connect("howdah_auditor")  # skips where there is but one role
    stand_in()
    run_recorded(make_conninfo(dsn, options="-c role=howdah_auditor"), "me")
    assert one(db, "select recorded_by from howdah.list_audits()") == "howdah_auditor"
    with pytest.raises(PermissionError):
        run_recorded(make_conninfo(dsn, options="-c role=howdah_producer"), "me")


def test_a_server_that_is_gone_says_so(dsn: str) -> None:
    with pytest.raises(AuditError, match="cannot connect"):
        run_recorded(make_conninfo(dsn, port=1), "me")
    with psycopg.connect(dsn) as db:
        assert runs(db) == []
