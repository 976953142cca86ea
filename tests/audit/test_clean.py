"""A sound database gives no findings, whatever its messages went through."""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from rich.console import Console
from support import Db, kill_backend, one

from howdah.audit import AuditError, print_report, run_audit, to_dict
from howdah.cli.audit import code_of
from howdah.engine.embedded import EmbeddedServer

from .conftest import Audit
from .traffic import fail, live_through_everything, receive, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SYSTEM = "_SYSTEM.Exception.Destination.howdah"


def test_every_fate_of_a_message_is_accounted_for_at_every_journal_level(
    audit: Audit, dsn: str, db: Db, tmp_path: Path, spark: "SparkSession"
) -> None:
    for level in ("full", "exits", "off"):
        live_through_everything(db, f"q.{level}", level)
    with psycopg.connect(dsn) as sender, psycopg.connect(dsn) as receiver:
        send(sender, "q.full", 5)
        assert receive(receiver, "q.full", 3)
        result = audit(output=tmp_path / "out")

    assert result.ok, result.rules
    assert code_of(result, "warning") == 0
    assert [rule.name for rule in result.rules if rule.count] == ["unrecorded"]
    # The queue without a journal sent one to the system's dead messages, and nobody wrote it down.
    assert result.rule("unrecorded").count == 1
    assert result.rule("unrecorded").queues == (SYSTEM,)
    assert {name: result.queue(f"q.{name}").verdict for name in ("full", "exits", "off")} == {
        "full": "proved",
        "exits": "sends not recorded independently",
        "off": "only what is present is known",
    }
    full = result.queue("q.full")
    assert (full.sent, full.replayed_in, full.moved_out, full.expired) == (28, 2, 5, 3)
    # What the open transactions sent and received is as if it had not been.
    assert (full.consumed, full.live, full.parked) == (8, 8, 6)
    dead = result.queue("q.full.dead")
    assert (dead.moved_in, dead.replayed_out, dead.discarded, dead.moved_out, dead.dead) == (5, 2, 1, 1, 1)
    exits = result.queue("q.exits")
    assert (exits.sent, exits.unrecorded_in, exits.replayed_in) == (0, 28, 2)
    assert result.locked
    for queue in result.queues:
        last = [hour.closing for hour in result.hours if hour.queue == queue.queue][-1:]
        assert last in ([queue.live + queue.parked + queue.dead], [])
    assert {hour.verdict for hour in result.hours if hour.queue == "q.exits"} == {"sends not recorded independently"}
    kept = spark.read.parquet(str(tmp_path / "out" / "journal"))
    assert kept.count() == result.rows["journal"] == 68
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "destinations", "messages", "journal", "digests", "incidents", "acts", "locks", "cursors", "workers",
        "identity", "hours", "rules", "reports", "index.html",
    }  # fmt: skip

    json.dumps(to_dict(result))
    page = Console(file=io.StringIO(), width=80)
    print_report(result, page)
    assert isinstance(page.file, io.StringIO)
    assert "Every message is accounted for" in page.file.getvalue()

    with pytest.raises(AuditError, match="not empty"):
        audit(output=tmp_path / "out")


def test_an_empty_database_is_sound(audit: Audit) -> None:
    assert audit().ok


def test_sends_before_the_level_was_raised_are_unrecorded_and_no_fault(audit: Audit, db: Db) -> None:
    db.execute("select howdah.create_queue('q')")
    send(db, "q", 6)
    db.execute("update howdah.destinations set created_at = created_at - interval '1 day' where name = 'q'")
    db.execute("select howdah.alter_queue('q', '{\"journal_level\": \"full\"}')")
    receive(db, "q", 3)
    send(db, "q", 2)
    result = audit()

    assert result.ok, result.rules
    assert result.queue("q").unrecorded_in == 6
    assert result.rule("unrecorded").count == 6


def test_a_raised_limit_does_not_accuse_messages_that_died_under_the_old_one(audit: Audit, db: Db) -> None:
    live_through_everything(db, "q", "full")
    db.execute("select howdah.alter_queue('q', '{\"max_failed_deliveries\": 9}')")
    db.execute("select howdah.alter_queue('q.dead', '{\"max_failed_deliveries\": 9}')")

    assert audit().rule("dead_without_incidents").passed


def test_what_operators_did_is_accounted_for(audit: Audit, db: Db) -> None:
    for queue, level in (("full", "full"), ("exits", "exits")):
        db.execute(
            "select howdah.create_queue(%s, jsonb_build_object('journal_level', %s::text, 'max_failed_deliveries', 2))",
            [queue, level],
        )
    moved, home, edited, replaced, parked, released = send(db, "full", 6)
    for message in (moved, home, edited, replaced, parked, released):
        assert fail(db, "full", message, 2) == "moved"
    db.execute("select howdah.move_messages(%s, %s, 'exits', 'look')", [SYSTEM, [moved, home]])
    db.execute("select howdah.move_messages('exits', %s, 'full')", [[home]])
    db.execute("select howdah.replay_edited(%s, %s, body => 'mended')", [SYSTEM, edited])
    db.execute("select howdah.replay_edited(%s, %s, target => 'exits', discard => true)", [SYSTEM, replaced])
    db.execute("select howdah.park_messages(%s, %s)", [SYSTEM, [parked, released]])
    db.execute("select howdah.retry(%s, %s)", [SYSTEM, [released]])
    waiting = send(db, "full", 2, delay="1 hour", delivery_mode="non-persistent")
    db.execute("select howdah.retry('full', %s)", [waiting[:1]])
    db.execute("select howdah.move_messages('full', %s, 'exits')", [waiting])
    result = audit()

    assert result.ok, result.rules
    assert all(rule.passed for rule in result.rules if rule.name != "unrecorded"), result.rules


@pytest.mark.parametrize("crash", ["of the server", "of one session's process"])
def test_non_persistent_messages_lost_by_a_crash_are_told_from_missing_ones(
    private_server: EmbeddedServer, spark: "SparkSession", crash: str
) -> None:
    """After the second one PostgreSQL empties UNLOGGED tables and begins anew, though it never ended."""
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
        send(db, "q", 4, delivery_mode="non-persistent")
        receive(db, "q")
        send(db, "q", 2)
    if crash == "of the server":
        private_server.stop("immediate")
    else:
        kill_backend(private_server, psycopg.connect(dsn, autocommit=True))
    dsn = private_server.start().dsn
    result = run_audit(dsn, spark=spark, partitions=2)

    assert result.ok, result.rules
    assert (result.queue("q").lost, result.queue("q").live) == (3, 2)
    assert [hour.closing for hour in result.hours if hour.queue == "q"][-1] == 2


def test_an_auditor_needs_no_more_than_the_views(audit: Audit, db: Db, dsn: str, spark: "SparkSession") -> None:
    live_through_everything(db, "q", "full")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create role audit_test login password 'secret' in role howdah_auditor")
        try:
            theirs = make_conninfo(dsn, user="audit_test", password="secret")
            result = run_audit(theirs, spark=spark, partitions=2)
        finally:
            connection.execute("drop role audit_test")

    assert result.ok
    assert result.locked


def test_each_subscription_of_a_topic_ends_its_messages_once_and_one_that_did_twice_is_found(
    audit: Audit, db: Db
) -> None:
    for level in ("full", "exits", "off"):
        options = f'{{"journal_level": "{level}"}}'
        db.execute("select howdah.create_topic(%s, %s)", [f"t.{level}", options])
        db.execute("select howdah.subscribe(%s, 'all', %s, options => %s)", [f"t.{level}", level, options])
        limited = f'{{"journal_level": "{level}", "max_failed_deliveries": 1, "exception_queue": null}}'
        for name in ("shared", "other"):
            db.execute(
                "select howdah.subscribe(%s, %s, %s, shared => true, options => %s)",
                [f"t.{level}", name, level, limited],
            )
        dead, replayed, *_ = send(db, f"t.{level}", 10)
        assert receive(db, f"t.{level}:{level}:all", 100) == [dead, replayed, *_]
        for name in ("shared", "other"):
            for message in (dead, replayed):  # the same ones, dead of both
                assert fail(db, f"t.{level}:{level}:{name}", message) == "moved"
        assert len(receive(db, f"t.{level}:{level}:shared", 5)) == 5
        assert one(db, "select howdah.replay(%s, array[%s]::bigint[])", [SYSTEM, replayed]) == 2
        assert len(receive(db, f"t.{level}:{level}:shared", 100)) == 4
    db.execute("select howdah.create_topic('t'), howdah.subscribe('t', 'a'), howdah.subscribe('t', 'b')")
    messages = send(db, "t", 3)
    assert receive(db, "t::a", 10) == receive(db, "t::b", 10) == messages
    db.execute(
        "insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids)"
        " select at, destination_id, nonpersistent, event, message_ids[1:1] from howdah.journal"
        " where destination_id = (select id from howdah.destinations where name = 't::b')"
    )
    result = audit()
    assert {
        (rule.name, rule.queues, rule.samples) for rule in result.rules if rule.count and rule.severity == "error"
    } == {
        *((name, ("t::b",), (messages[0],)) for name in ("consumed_twice", "identity")),
        *((name, ("t::b",), ()) for name in ("negative_hours", "last_hour")),
    }
    assert (result.queue("t.full:full:all").consumed, result.queue("t.full:full:shared").consumed) == (10, 9)
    assert {level: result.queue(f"t.{level}:{level}:all").verdict for level in ("full", "exits", "off")} == {
        "full": "proved by its topic's sends",
        "exits": "sends not recorded independently",
        "off": "only what is present is known",
    }
    assert result.queue(SYSTEM).dead == 6
    assert "t.full" not in [queue.queue for queue in result.queues]
