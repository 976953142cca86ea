"""The archive has every row once, whatever happens to its archiver, and nothing is dropped that is not in it."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import archiving_process
import psycopg
import pytest
from command import start
from support import Clock, Db, column, one, wait_until

from howdah.audit import AuditError, AuditResult
from howdah.audit.archive import STAGES, verify_archive
from howdah.audit.archive.parts import INCIDENTS, JOURNAL, Part
from howdah.audit.archive.source import even_shares

from .conftest import Archive, Audit
from .traffic import fail, live_through_everything, receive, send

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def kill(dsn: str, folder: Path, spark: "SparkSession") -> Iterator[Callable[[str], None]]:
    """Lets an archiver in a process of its own work up to a stage, where it is killed."""
    bridge = spark.sparkContext._gateway
    assert bridge is not None
    gateway = bridge.gateway_parameters
    reached = {"PYSPARK_GATEWAY_PORT": str(gateway.port), "PYSPARK_GATEWAY_SECRET": gateway.auth_token}
    with subprocess.Popen(
        [sys.executable, archiving_process.__file__, dsn, str(folder)],
        env=os.environ | reached,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def at(stage: str) -> None:
            print(stage, file=stdin, flush=True)
            assert stdout.readline() == f"{-signal.SIGKILL}\n"

        yield at
        stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("part", [JOURNAL, INCIDENTS], ids=["journal", "incidents"])
def test_what_is_new_is_read_in_even_shares_though_it_lies_in_the_last_blocks(dsn: str, db: Db, part: Part) -> None:
    for queue, count in (("old", 3000), ("young", 300)):
        one(db, 'select howdah.create_queue(%s, \'{"journal_level": "full", "max_failed_deliveries": 0}\')', [queue])
        for _ in range(count // 300):
            for message in send(db, queue, 300)[::10]:
                fail(db, queue, message, 5)
        if queue == "old":
            since: str = one(db, "select pg_current_snapshot()::text")
    for after in (None, since):
        condition = part.condition(after)
        shares = even_shares(db, part.view, condition, 3)
        select = f"select count(*) from howdah.{part.view} v where {condition}"
        sizes = [one(db, f"{select} and {share}") for share in shares]
        whole = one(db, select)
        assert sum(sizes) == whole > 0
        largest = one(db, f"select max(n) from (select count(*) n from howdah.{part.view} v where {condition}"
                      " group by (v.place::text::point)[0]) b")  # fmt: skip
        assert max(sizes) <= whole / 3 + largest
    assert even_shares(db, part.view, "false", 3) == ["place >= '(0,0)'"]


def written(spark: "SparkSession", folder: Path, part: str, columns: str) -> Counter[tuple[Any, ...]]:
    """The rows of all finished runs, as the files have them."""
    rows: Counter[tuple[Any, ...]] = Counter()
    for run in sorted(folder.glob("run=*")):
        if (run / part).exists():
            frame = spark.read.parquet(str(run / part))
            rows.update(tuple(row) for row in frame.selectExpr(*columns.split(", ")).collect())
    return rows


def there(db: Db, view: str, columns: str) -> Counter[tuple[Any, ...]]:
    """The rows of a view of the database."""
    return Counter(tuple(row) for row in db.execute(f"select {columns} from howdah.{view}".encode()).fetchall())


JOURNAL_COLUMNS = "message_id, event, destination_id, xid"
INCIDENT_COLUMNS = "incident_id, message_id, error_text, xid"


def archived(spark: "SparkSession", folder: Path) -> list[Counter[tuple[Any, ...]]]:
    """The journal and the incidents of the archive."""
    return [written(spark, folder, "journal", JOURNAL_COLUMNS), written(spark, folder, "incidents", INCIDENT_COLUMNS)]


def contents(db: Db) -> list[Counter[tuple[Any, ...]]]:
    """Those of the database."""
    return [there(db, "audit_journal", JOURNAL_COLUMNS), there(db, "audit_incidents", INCIDENT_COLUMNS)]


def identity(result: AuditResult) -> dict[str, Any]:
    return {queue.queue: queue for queue in result.queues}


def test_an_audit_over_the_archive_equals_the_one_before_partitions_were_dropped(
    audit: Audit, archive: Archive, folder: Path, db: Db, clock: Clock, spark: "SparkSession", dsn: str
) -> None:
    db.execute("select howdah.alter_engine('{\"archive\": true}')")
    live_through_everything(db, "a/b", "full")
    first = archive()
    assert (first.run, first.journal) == (1, one(db, "select count(*) from howdah.audit_journal"))
    live_through_everything(db, "q", "exits")
    before = audit()
    everything = contents(db)
    clock.advance(100 * 86400)
    notices: list[str] = []
    db.add_notice_handler(lambda said: notices.append(str(said.message_primary)))
    one(db, "select howdah.maintain_journal()")
    one(db, "select howdah.maintain_incidents()")
    # The second half is not in the archive yet.
    assert there(db, "audit_journal", JOURNAL_COLUMNS).total() == before.rows["journal"]
    assert any("howdah archive run" in said for said in notices), notices
    waits = db.execute(
        "select setting, advice from howdah.check_server() where setting like 'maintenance %'"
    ).fetchall()
    assert {row[0] for row in waits} == {"maintenance journal", "maintenance incidents"}

    second = archive()
    assert (second.run, first.journal + second.journal) == (2, before.rows["journal"])
    assert archived(spark, folder) == everything
    assert verify_archive(dsn, folder, spark=spark)[1].damage == ()
    one(db, "select howdah.maintain_journal()")
    one(db, "select howdah.maintain_incidents()")
    assert there(db, "audit_journal", JOURNAL_COLUMNS).total() == 0
    assert column(db, "select setting from howdah.check_server() where setting like 'maintenance %'") == []

    # What comes later is read from the database.
    send(db, "a/b", 3)
    after = audit(archive=folder)
    known = identity(before)
    full = known["a/b"]
    more = replace(full, messages=full.messages + 3, sent=full.sent + 3, live=full.live + 3)
    assert identity(after) == known | {"a/b": more}
    assert [(rule.name, rule.count, rule.samples) for rule in after.rules] == [
        (rule.name, rule.count, rule.samples) for rule in before.rules
    ]
    assert after.rows["journal"] == before.rows["journal"] + 3


def test_a_late_commit_is_archived_by_the_run_that_first_sees_it(
    archive: Archive, folder: Path, db: Db, dsn: str, spark: "SparkSession"
) -> None:
    db.execute('select howdah.create_queue(\'q\', \'{"journal_level": "full", "max_failed_deliveries": 1}\')')
    dead = send(db, "q", 3)[0]
    assert fail(db, "q", dead) == "moved"
    with psycopg.connect(dsn) as late:
        send(late, "q", 2)
        late.execute("select howdah.record_failure('q', %s, 'late')", [send(late, "q", 1)[0]])
        send(db, "q", 1)
        assert (first := archive()).journal == 3 + 1 + 1
        assert (first.incidents, first.messages) == (1, 1)
        late.commit()
    send(db, "q", 1)
    assert (second := archive()).journal == 2 + 1 + 1 + 1
    assert (second.incidents, second.messages) == (1, 1)
    assert archived(spark, folder) == contents(db)
    assert archive().run == 2  # nothing is new: no run


def test_runs_under_traffic_with_rollbacks_and_late_commits_have_every_row_once(
    archive: Archive, folder: Path, db: Db, dsn: str, spark: "SparkSession"
) -> None:
    db.execute('select howdah.create_queue(\'q\', \'{"journal_level": "full", "max_failed_deliveries": 1}\')')
    stop = threading.Event()

    def traffic(seed: int) -> None:
        choice = random.Random(seed)
        with psycopg.connect(dsn) as mine:
            while not stop.is_set():
                send(mine, "q", choice.randint(1, 5))
                if choice.random() < 0.5:
                    receive(mine, "q", choice.randint(1, 5))
                if choice.random() < 0.2:
                    mine.execute("select howdah.record_failure('q', %s, 'no')", [send(mine, "q", 1)[0]])
                stop.wait(choice.choice((0, 0, 0.05)))  # some transactions stay open for a while
                mine.rollback() if choice.random() < 0.2 else mine.commit()

    threads = [threading.Thread(target=traffic, args=[seed]) for seed in range(3)]
    for thread in threads:
        thread.start()
    runs = [archive() for _ in range(3)]
    stop.set()
    for thread in threads:
        thread.join()
    runs.append(archive())
    assert archived(spark, folder) == contents(db)
    dead = there(db, "archive_messages", "message_id")
    assert written(spark, folder, "messages", "message_id") == dead
    assert sum(run.journal for run in runs) == contents(db)[0].total()
    assert sum(run.messages for run in runs) == dead.total()


def test_killed_at_every_stage_and_run_again_the_archive_is_whole_and_single(
    archive: Archive, kill: Callable[[str], None], folder: Path, db: Db, clock: Clock, spark: "SparkSession"
) -> None:
    db.execute('select howdah.create_queue(\'q\', \'{"journal_level": "full", "max_failed_deliveries": 1}\')')
    dead = []
    for stage in STAGES:
        dead.append(send(db, "q", 3)[0])
        assert fail(db, "q", dead[-1]) == "moved"
        kill(stage)
        assert one(db, "select count(*) from howdah.list_archive_runs()") == {"finished": 1, "marked": 2}.get(stage, 0)
        if stage == STAGES[0]:
            with pytest.raises(AuditError, match="another archiver is at work, or died"):
                archive()
        clock.advance(61)
    send(db, "q", 1)
    archive()
    assert archived(spark, folder) == contents(db)
    assert written(spark, folder, "messages", "message_id") == Counter((number,) for number in dead)
    assert list((folder / "_staging").glob("*")) == []


@pytest.mark.slow
def test_killed_with_its_own_java_while_files_are_written_it_leaves_nothing_behind(
    archive: Archive, folder: Path, db: Db, dsn: str, clock: Clock, spark: "SparkSession"
) -> None:
    db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    db.execute(
        "insert into howdah.journal (at, destination_id, event, message_ids) select howdah.now(), 2, 'sent',"
        " array(select (i * 1000 + k) * 1000000 + 2 from generate_series(1, 1000) k)"
        " from generate_series(1, 30::bigint) i"
    )
    with start(dsn, "archive", "run", folder, stdin=subprocess.DEVNULL) as process:
        wait_until(lambda: process.poll() is not None or list(folder.glob("_staging/*/journal/_temporary")), 120)
        process.kill()
        assert process.wait() == -signal.SIGKILL
    assert column(db, "select run from howdah.list_archive_runs()") == []
    clock.advance(61)
    assert archive().journal == 30_000
    assert written(spark, folder, "journal", "message_id") == there(db, "audit_journal", "message_id")
    assert list((folder / "_staging").glob("*")) == []
