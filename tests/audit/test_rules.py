"""One fault of each kind, each in a queue of its own of one database, and what one audit says of it."""

import io
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from rich.console import Console
from support import SYSTEM, Server, identifier

from howdah.audit import AuditResult, Sample, hours, print_report, ranges, run_audit
from howdah.audit.checks import RULES
from howdah.cli.audit import code_of

from .conftest import same
from .seeded_faults import corrupt

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ERRORS = {
    "missing": {"missing", "identity", "last_hour"},
    "nowhere": {"from_nowhere", "identity", "last_hour"},
    "unsent": {"from_nowhere", "identity", "last_hour", "negative_hours"},
    "elsewhere": {"from_nowhere", "identity", "last_hour", "negative_hours"},
    "nobody": {"from_nowhere", "identity", "last_hour", "negative_hours"},
    "topic::unsent": {"never_sent"},
    "twice": {"consumed_twice", "identity", "last_hour", "negative_hours"},
    "pair::twice": {"consumed_twice", "identity", "last_hour", "negative_hours"},
    "resent": {"sent_twice", "missing", "identity", "last_hour"},
    "hours": {"negative_hours", "left_before_sent", "before_creation"},
    "backdated": {"before_creation"},
    "failed.early": {"before_creation", "incident_changed"},
    "failed.text": {"incident_changed"},
    "failed.time": {"incident_changed"},
    "failed.less": {"incident_missing"},
    "late": {"consumed_expired"},
    "news::stale": {"consumed_expired"},
    "early": {"expired_early"},
    "groups": {"out_of_order"},
    "ended": {"failed_after_end"},
    "stubborn": {"retried_at_limit"},
    "strange": {"incident_without_message"},
    "body": {"altered"},
    "headers": {"altered"},
    "sent.at": {"altered"},
    "priority": {"altered"},
    "expires.at": {"altered"},
    "swapped.here": {"altered"},
    "swapped.there": {"altered"},
    "falsely.expired": {"expired_early"},
    "falsely.held": {"expired_early"},
    "falsely.moved": {"expired_early"},
    "falsely.dead": {"expired_early"},
    "mode": {"two_modes"},
    "assured.lost": {"lost_above_level"},
    "express.lost": {"lost_above_level"},
    "reliable.lost": {"lost_above_level"},
    "level": {"other_level"},
    "origin.dead": {"dead_otherwise"},
    "cleared.dead": {"dead_otherwise"},
    "reason.dead": {"dead_otherwise"},
    "ahead": {"in_future", "altered"},
    "journal.ahead": {"in_future"},
    "failed.ahead": {"in_future", "incident_changed"},
    SYSTEM: {"in_future", "dead_otherwise"},
    None: {"lock_epochs"},
}
"""Which rules of severity error each queue breaks."""


@pytest.fixture(scope="module")
def messages() -> dict[str | None, int]:
    """Which message of each queue is the faulty one."""
    return {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "out"


@pytest.fixture(scope="module")
def damaged(server: Server, template: str, messages: dict[str | None, int]) -> Iterator[str]:
    """The DSN of the damaged database."""
    name = "howdah_test_rules"
    with psycopg.connect(server.dsn, autocommit=True) as admin:
        admin.execute(psycopg.sql.SQL("create database {} template {}").format(identifier(name), identifier(template)))
        dsn = make_conninfo(server.dsn, dbname=name)
        try:
            with psycopg.connect(dsn, autocommit=True) as db:
                messages |= corrupt(db)
            yield dsn
        finally:
            admin.execute(psycopg.sql.SQL("drop database {} with (force)").format(identifier(name)))


@pytest.fixture(scope="module")
def result(damaged: str, spark: "SparkSession", folder: Path) -> AuditResult:
    """The audit of the damaged database."""
    return run_audit(damaged, spark=spark, partitions=2, output=folder)


def broken(result: AuditResult, severity: str) -> dict[str | None, set[str]]:
    found: dict[str | None, set[str]] = {}
    for rule in result.rules:
        if rule.severity == severity:
            nobodys = [row.queue for row in rule.rows if row.queue is None]
            for name in (*rule.queues, *nobodys):
                found.setdefault(name, set()).add(rule.name)
    return found


@pytest.mark.slow
def test_each_fault_breaks_its_own_rules_and_no_other_queues(result: AuditResult) -> None:
    assert not result.ok
    assert broken(result, "error") == ERRORS


def test_a_time_that_does_not_fit_its_transaction_is_warned_of(
    result: AuditResult, messages: dict[str | None, int]
) -> None:
    rule = result.rule("against_transactions")
    alone = replace(result, queues=(), rules=(rule,))
    assert (code_of(alone, "error"), code_of(alone, "warning")) == (0, 6)
    assert {row.message_id for row in rule.rows} == {messages["backdated"], messages["hours"]}


def test_a_redelivery_before_its_delay_was_over_is_warned_of_and_an_operators_retry_is_not(
    result: AuditResult, messages: dict[str | None, int]
) -> None:
    rule = result.rule("redelivered_early")
    found = sorted(((row.queue, row.message_id, (row.seen or "").partition(" 2")[0]) for row in rule.rows), key=str)
    early = messages["hasty"]
    assert early is not None
    held = early + 3_000_000  # the worker's way after a failure: consume_locked
    assert found == [
        ("hasty", early, "consumed at"),
        ("hasty", early + 1_000_000, "failed again at"),
        ("hasty", held, "consumed at"),
    ]
    assert rule.severity == "warning"


# Of six and more messages that lie there altered the first five are samples.
@pytest.mark.parametrize("name", [name for name in ERRORS if name is not None and not name.startswith("swapped.")])
def test_samples_name_the_message(result: AuditResult, messages: dict[str | None, int], name: str) -> None:
    named = {row.message_id for rule in result.rules for row in rule.rows if row.queue == name}
    assert named - {None} == {messages[name]}


@pytest.mark.parametrize(
    ("rule", "queue", "seen"),
    [
        ("missing", "missing", "1 sent"),
        ("from_nowhere", "nowhere", "1 live"),
        ("from_nowhere", "unsent", "1 consumed"),
        ("consumed_twice", "twice", "1 sent, 2 consumed"),
        ("identity", "missing", "its queue came out by 1"),
        ("last_hour", "missing", "the last hour closes with 2, and 1 are there"),
        ("negative_hours", "hours", "opening 0, in 0, out 1, closing -1"),
        ("out_of_order", "groups", "group g: consumed at"),
        ("before_creation", "backdated", "sent: at 2"),
        ("before_creation", "failed.early", "returned: recorded_at 2"),
        ("altered", "body", "its content is not what was sent"),
        ("altered", "sent.at", "sent at 2"),
        ("altered", "priority", "priority 9, recorded as 4"),
        ("altered", "expires.at", "recorded as -"),
        ("expired_early", "falsely.expired", "expires at -"),
        ("two_modes", "mode", "1 sent, 1 consumed"),
        ("lost_above_level", "assured.lost", "lost as ASSURED_PERSISTENT: lost"),
        ("lost_above_level", "express.lost", "discarded as EXPRESS_NONPERSISTENT: RESOURCES"),
        ("lost_above_level", "reliable.lost", "discarded as RELIABLE_NONPERSISTENT: SENDER_GONE"),
        ("other_level", "level", "RELIABLE_PERSISTENT, recorded as ASSURED_PERSISTENT"),
        ("dead_otherwise", "origin.dead", "and it came from origin"),
        ("dead_otherwise", "cleared.dead", "it is not dead, and died"),
        ("dead_otherwise", "reason.dead", "dead of: forged; recorded: failed deliveries"),
        ("in_future", "journal.ahead", "sent: at 2"),
        ("in_future", "failed.ahead", "returned: recorded_at 2"),
        ("in_future", SYSTEM, "dead: dead_at 2"),
        ("incident_changed", "failed.text", ": yes"),
        ("incident_missing", "failed.less", "2 incidents in stage 0, the last is attempt 3"),
        ("failed_after_end", "ended", "attempt 3 is returned, after attempt 2 had ended it"),
        ("lock_epochs", None, "lock gap: epoch 3 follows 1"),
        ("lock_epochs", None, "lock last: its epoch is 7, its last holder got 3"),
    ],
)
def test_samples_say_what_was_seen(result: AuditResult, rule: str, queue: str | None, seen: str) -> None:
    assert any(seen in row.seen for row in result.rule(rule).rows if row.queue == queue), result.rule(rule).rows


def test_a_rule_broken_by_no_message_of_one_queue_has_a_count_and_no_ids(result: AuditResult) -> None:
    rule = result.rule("lock_epochs")
    assert (rule.count, rule.samples, rule.queues) == (2, (), ())


def test_every_rule_of_the_audit_has_a_seeded_fault_here_or_beside(result: AuditResult) -> None:
    elsewhere = {
        "dead_without_incidents",
        "failures_beyond_readers",
        "incidents_over_limit",
        "unknown_message",
    }  # test_corruption
    elsewhere |= {"unrecorded"}  # test_clean
    elsewhere |= {"since_last_audit"}  # test_since
    elsewhere |= {"not_delivered"}  # test_topics
    shown = set().union(*ERRORS.values()) | {"against_transactions", "redelivered_early"}
    assert shown | elsewhere == {rule.name for rule in RULES}
    assert shown & elsewhere == set()


def test_each_broken_rule_alone_ends_the_command_by_its_severity(result: AuditResult) -> None:
    broken = [rule for rule in result.rules if rule.count]
    alone = {rule.name: code_of(replace(result, queues=(), rules=(rule,)), "warning") for rule in broken}
    assert alone == {rule.name: {"error": 1, "warning": 6, "notice": 0}[rule.severity] for rule in broken}
    assert {1, 6} <= set(alone.values())


def test_the_page_of_rules_lists_them_as_they_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "audit-rules.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \| (error|warning|notice) \| (.*?) \|", page, re.MULTILINE)
    assert listed == [(rule.name, rule.severity, rule.meaning) for rule in RULES]


def test_samples_are_in_the_parquet_the_json_and_the_terminal(
    result: AuditResult, folder: Path, spark: "SparkSession"
) -> None:
    sample = next(row for row in result.rule("consumed_twice").rows if row.queue == "twice")
    assert isinstance(sample, Sample)
    rows = spark.read.parquet(str(folder / "rules")).where("rule = 'consumed_twice' and queue = 'twice'").collect()
    assert [tuple(kept) for kept in rows[0]["samples"]] == [(sample.message_id, sample.seen)]

    told: Any = json.loads(json.dumps(result.to_dict()))
    rules = {rule["name"]: rule for rule in told["rules"]}
    assert {"queue": "twice", "message_id": sample.message_id, "seen": sample.seen} in rules["consumed_twice"]["rows"]

    page = Console(file=io.StringIO(), width=200)
    print_report(result, page)
    assert isinstance(page.file, io.StringIO)
    assert f"{sample.message_id}: {sample.seen}" in page.file.getvalue()


def test_each_hour_opens_with_what_the_one_before_closed_with(result: AuditResult, folder: Path) -> None:
    told = [hour for hour in result.hours if hour.queue == "hours"]
    assert [(hour.opening, hour.came, hour.went, hour.closing, hour.verdict) for hour in told] == [
        (0, 0, 1, -1, "not balanced"),
        (-1, 1, 0, 0, "proved"),
    ]
    for before, after in itertools.pairwise(result.hours):
        if before.queue == after.queue:
            assert (after.opening, before.hour < after.hour) == (before.closing, True)
    assert (folder / "hours").is_dir()


def test_of_many_hours_the_newest_and_those_that_do_not_balance_are_told(
    result: AuditResult, folder: Path, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hours, "HOURS_MAX", 2)
    kept = spark.read.parquet(str(folder / "hours"))
    rows = hours.told(kept).collect()
    newest = sorted(row["hour"] for row in kept.collect())[-2:]
    assert 2 <= len(rows) <= 4 < kept.count()
    assert len([row for row in rows if row["closing"] < 0]) >= 2
    assert sorted(row["hour"] for row in rows)[-2:] == newest


@pytest.mark.slow
def test_by_digest_and_by_row_the_same_faults_are_found(
    result: AuditResult, damaged: str, spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "MOST", 1.0)
    monkeypatch.setattr(ranges, "BY_ROW_MAX", 0)
    same(result, run_audit(damaged, spark=spark, partitions=2, rows=True))
    # Times that no transaction explains have all rows read: without them digests prove what is sound.
    with psycopg.connect(damaged, autocommit=True) as db:
        for name, shift in (("backdated", "5 hours"), ("hours", "2 hours"), ("journal.ahead", "-30 minutes")):
            db.execute(
                "update howdah.journal j set at = at + %s::interval from howdah.destinations d"
                " where d.id = j.destination_id and d.name = %s and abs(extract(epoch from at - now())) > 1800",
                (shift, name),
            )
    by_digest = run_audit(damaged, spark=spark, partitions=2)
    same(by_digest, run_audit(damaged, spark=spark, partitions=2, rows=True))
    assert by_digest.rule("against_transactions").passed
    assert {why for span in by_digest.spans for why in span.why} >= {"special", "touched", "unequal", "topic"}
