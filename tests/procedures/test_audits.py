"""Audits on record: one auditor at a time, what each found, and the last verdict where people look."""

from datetime import timedelta

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, all_refused, one, refused


def record(db: Db, verdict: str = "proved", severity: str = "none", **more: object) -> int:
    """An audit that judged the queue q."""
    arguments = {
        "started_at": one(db, "select howdah.now()"),
        "exit_code": 0,
        "severity": severity,
        "taken_at": one(db, "select howdah.now()"),
        "snapshot": one(db, "select pg_current_snapshot()::text"),
        "queues": Jsonb([{"queue": "q", "verdict": verdict, "live": 1, "parked": 0, "dead": 0}]),
        **more,
    }
    number: int = one(
        db, f"select howdah.record_audit({', '.join(f'{name} => %s' for name in arguments)})", [*arguments.values()]
    )
    return number


@pytest.fixture
def queue(db: Db) -> str:
    db.execute("select howdah.create_queue('q')")
    return "q"


def verdict(db: Db) -> object:
    return one(db, "select audit_verdict from howdah.queue_stats('q')")


def test_the_last_verdict_on_a_queue_stands_in_queue_stats(db: Db, queue: str, clock: Clock) -> None:
    assert db.execute("select audited_at, audit_verdict from howdah.queue_stats('q')").fetchall() == [(None, None)]
    record(db, "proved")
    clock.advance(60)
    record(db, "not balanced", "error")
    assert db.execute("select audited_at, audit_verdict from howdah.queue_stats('q')").fetchall() == [
        (clock.now, "not balanced")
    ]


def test_an_audit_of_an_older_snapshot_does_not_replace_the_verdict(db: Db, queue: str, clock: Clock) -> None:
    record(db, "not balanced", "error")
    record(db, "proved", taken_at=clock.now - timedelta(seconds=1))
    assert verdict(db) == "not balanced"


def test_a_failed_audit_leaves_the_verdict_as_it_was(db: Db, queue: str) -> None:
    record(db, "proved")
    record(db, severity="failed", taken_at=None, snapshot=None, queues=Jsonb([]), exit_code=1, reason="no Java")
    assert verdict(db) == "proved"
    rows = db.execute("select severity, exit_code, reason from howdah.list_audits()").fetchall()
    assert rows == [("failed", 1, "no Java"), ("none", 0, None)]
    assert one(db, "select count(*) from howdah.list_audits(made => true)") == 1


def test_a_queue_that_takes_the_name_of_a_dropped_one_has_not_been_audited(db: Db, queue: str) -> None:
    record(db)
    db.execute("select howdah.drop_queue('q')")
    db.execute("select howdah.create_queue('q')")
    assert verdict(db) is None


def test_only_one_audits_and_goes_on_doing_so(db: Db, clock: Clock) -> None:
    hold = "select lock_epoch, held_by from howdah.hold_audit(%s, 60)"
    assert db.execute(hold, ["a"]).fetchall() == [(1, "a")]
    assert db.execute(hold, ["b"]).fetchall() == [(None, "a")]
    clock.advance(59)
    assert db.execute(hold, ["a"]).fetchall() == [(1, "a")]
    clock.advance(59)
    assert db.execute(hold, ["b"]).fetchall() == [(None, "a")]
    clock.advance(1)
    assert db.execute(hold, ["b"]).fetchall() == [(2, "b")]


def test_who_lost_the_right_to_audit_records_nothing(db: Db, queue: str, clock: Clock) -> None:
    db.execute("select howdah.hold_audit('a', 60)")
    clock.advance(60)
    db.execute("select howdah.hold_audit('b', 60)")
    with pytest.raises(psycopg.Error) as raised:
        record(db, lock_epoch=1)
    assert raised.value.sqlstate == "HD014"
    refused(db, "HD014", "select howdah.release_audit(1)")
    assert one(db, "select count(*) from howdah.list_audits()") == 0
    assert verdict(db) is None
    record(db, lock_epoch=2)
    assert db.execute("select lock_epoch from howdah.hold_audit('a')").fetchall() == [(3,)], "recording gave it up"
    db.execute("select howdah.release_audit(3)")
    assert db.execute("select lock_epoch from howdah.hold_audit('b')").fetchall() == [(4,)]


def test_figures_of_queues_come_with_a_single_run(db: Db, queue: str) -> None:
    record(db)
    record(db)
    assert [row[0] for row in db.execute("select queues from howdah.list_audits()").fetchall()] == [None, None]
    assert one(db, "select queues from howdah.list_audits(1)") == [
        {"queue": "q", "verdict": "proved", "live": 1, "parked": 0, "dead": 0}
    ]


def test_a_snapshot_of_another_cluster_is_not_handed_out(db: Db, queue: str) -> None:
    record(db)
    assert one(db, "select snapshot is not null from howdah.list_audits(1)")
    db.execute("update howdah.audit_runs set system_identifier = 1")
    assert one(db, "select snapshot is null from howdah.list_audits(1)")
    record(db)
    db.execute("update howdah.audit_runs set snapshot = '9000000000:9000000000:'")
    assert one(db, "select snapshot is null from howdah.list_audits(1)"), "the database was set back since"


def test_old_audits_are_forgotten_but_the_last_that_was_made(db: Db, queue: str, clock: Clock) -> None:
    first, last = record(db), record(db)
    failed = record(db, severity="failed", taken_at=None, exit_code=1)
    clock.advance(91 * 86400)
    db.execute("select howdah.maintain_incidents()")
    assert [row[0] for row in db.execute("select run_id from howdah.list_audits()").fetchall()] == [failed, last]
    assert first < last


def test_check_server_tells_of_an_audit_that_found_errors_or_failed(db: Db, queue: str) -> None:
    said = "select danger from howdah.check_server() where setting = 'audit'"
    assert db.execute(said).fetchall() == []
    record(db, "not balanced", "error", exit_code=1)
    assert one(db, said) == "loss"
    record(db, severity="failed", taken_at=None, exit_code=1, reason="no Java")
    assert one(db, said) == "stall"
    record(db)
    assert db.execute(said).fetchall() == []


def test_auditors_record_and_others_do_not(db: Db, queue: str, connect: Connect) -> None:
    auditor = connect("howdah_auditor")
    assert one(auditor, "select lock_epoch from howdah.hold_audit('me')") == 1
    assert record(auditor, lock_epoch=1) == 1
    assert one(auditor, "select recorded_by from howdah.list_audits()") == "howdah_auditor"
    assert one(connect("howdah_browser"), "select count(*) from howdah.list_audits()") == 1
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect("howdah_consumer").execute("select howdah.hold_audit('me')")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        auditor.execute("select * from howdah.audit_runs")


def test_nonsense_is_refused_before_anything_is_written(db: Db, queue: str) -> None:
    call = "select howdah.record_audit(now(), 0, {})".format
    all_refused(
        db,
        [
            ("HD005", call("null")),
            ("HD005", call("'fine', taken_at => now()")),
            ("HD005", call("'none'")),
            ("HD005", call("'failed', taken_at => now()")),
            ("HD005", call("'none', taken_at => now(), queues => '{}'")),
            ("HD005", call("'none', taken_at => now(), queues => '[{\"queue\": \"q\"}]'")),
            ("HD005", call("'none', taken_at => now(), snapshot => 'now'")),
            ("HD005", call("'none', taken_at => 'infinity'")),
            ("HD005", call("'none', taken_at => '-infinity'")),
            ("HD005", call("'none', taken_at => '294276-01-01'")),
            ("HD005", call("'none', taken_at => now() + interval '2 days'")),
            ("HD005", call("'none', taken_at => '0044-03-15 BC'")),
            ("HD005", "select howdah.record_audit('infinity', 3, 'failed')"),
            ("HD005", "select howdah.record_audit('4713-01-01 BC', 3, 'failed')"),
            ("HD005", "select howdah.list_audits(0)"),
            ("HD005", "select howdah.list_audits(0, true, 1)"),
            ("HD005", "select howdah.hold_audit(null)"),
            ("HD005", "select howdah.audit_digests(-1)"),
            ("HD005", "select howdah.audit_digests(null)"),
            ("HD005", "select howdah.audit_digests(2, 1)"),
            ("HD005", "select howdah.audit_digests(0, 4294967295)"),
            ("HD005", "select howdah.audit_digests(since => 'now')"),
            ("HD005", "select howdah.audit_digests(salt => null)"),
            ("HD005", "select howdah.audit_digests(rest => 'NaN')"),
            ("HD005", "select howdah.audit_digests(rest => -1)"),
            ("HD005", "select howdah.audit_digests(rest => null)"),
            ("HD005", "select howdah.next_journal_offset('{}')"),
            ("HD005", "select howdah.next_journal_offset(howdah.journal_offset(), 0)"),
            ("HD005", "select howdah.journal_ranges(howdah.journal_offset(), howdah.journal_offset(), 0)"),
        ],
    )


@pytest.mark.parametrize(
    "counts",
    [
        {},
        {"live": 1, "parked": 0},
        {"live": -1, "parked": 0, "dead": 0},
        {"live": 1.5, "parked": 0, "dead": 0},
        {"live": True, "parked": 0, "dead": 0},
        {"live": "1", "parked": 0, "dead": 0},
        {"live": None, "parked": 0, "dead": 0},
        {"live": [1], "parked": 0, "dead": 0},
        {"live": 2**63, "parked": 0, "dead": 0},
        {"live": 2**62, "parked": 2**62, "dead": 0},
        {"live": 10**400, "parked": 0, "dead": 0},
    ],
)
def test_an_auditor_cannot_record_counts_of_a_snapshot_that_no_audit_could_read(
    db: Db, queue: str, counts: dict[str, object]
) -> None:
    with pytest.raises(psycopg.Error, match="whole numbers whose sum is below") as error:
        record(db, queues=Jsonb([{"queue": "q", "verdict": "proved", **counts}]))
    assert error.value.sqlstate == "HD005"
    assert one(db, "select count(*) from howdah.audit_runs") == 0
    assert verdict(db) is None
    assert (
        record(db, queues=Jsonb([{"queue": "q", "verdict": "proved", "live": 2**63 - 1, "parked": 0, "dead": 0}])) > 0
    )
    assert record(db, snapshot=None, queues=Jsonb([{"queue": "q", "verdict": "proved", **counts}])) > 0


def test_an_auditor_cannot_record_a_snapshot_of_the_future(db: Db, queue: str) -> None:
    future = one(db, "select (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1000)::text")
    with pytest.raises(psycopg.Error, match="lies in the future") as error:
        record(db, snapshot=f"3:{future}:")
    assert error.value.sqlstate == "HD005"
    assert one(db, "select count(*) from howdah.audit_runs") == 0
