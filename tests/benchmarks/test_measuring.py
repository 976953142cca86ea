"""Each row measures what it says, its warm-up and its cost in processor time apart."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import psycopg
import pytest
from rich.console import Console
from support import Db, Server, one

from howdah.benchmarks import (
    audits,
    consoles,
    floor,
    held,
    levels,
    listener,
    processor,
    topics,
)
from howdah.benchmarks.bench import Bench
from howdah.benchmarks.lines import Line, lines
from howdah.benchmarks.place import Place
from howdah.benchmarks.record import OURS, Record
from howdah.benchmarks.row import Row
from howdah.benchmarks.rows import ROWS
from howdah.benchmarks.show import NO_SERVER, cpu, reached, remarks
from howdah.benchmarks.size import FULL, QUICK, TINY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def row(key: str) -> Row:
    return next(row for row in ROWS if row.key == key)


@pytest.fixture
def measured(server: Server, template: str) -> Iterator[Bench]:
    """A bench on a server of its own, as far as a row sees."""
    if server.embedded is None:
        pytest.skip("databases are made on a server of ours only")
    with psycopg.connect(server.dsn, autocommit=True) as admin:
        admin.execute(f"create database howdah_bench_template template {template}".encode())
        try:
            yield Bench(Place(server.dsn, server.embedded), TINY, Record(), Console(quiet=True))
        finally:
            admin.execute("drop database howdah_bench_template")


def test_a_run_of_pgbench_has_a_warm_up_that_is_not_measured_and_says_what_a_transaction_cost(measured: Bench) -> None:
    measured.size = replace(TINY, warm=40)
    with measured.database() as dsn:
        with psycopg.connect(dsn) as connection:
            connection.execute("create sequence howdah_bench.calls")
        script = "select nextval('howdah_bench.calls'), count(sqrt(i)) from generate_series(1, 20000) i;"
        ran = measured.pgbench(dsn, script, 2, 60)
        with psycopg.connect(dsn) as connection:
            assert one(connection, "select last_value from howdah_bench.calls") == 2 * (40 + 60)
    assert ran.transactions == 60
    assert ran.cost.server is not None
    # Each counts to 20,000, which takes some milliseconds; the client only waits.
    assert ran.cost.server > 300
    assert ran.cost.server > ran.cost.client
    ran.note(measured.record, "send-one", "1 connection", OURS, few="they are slow")
    (line,) = lines(measured.record, row("send-one"))
    assert remarks([line]) == ["1 connection: 60 transactions a connection: they are slow"]
    assert cpu(line.cpu) == cpu((ran.cost.server, ran.cost.client))


@pytest.mark.slow
@pytest.mark.behaviour("SIB-40")
def test_levels_are_measured_and_stand_in_order_from_the_cheapest_to_the_dearest(measured: Bench) -> None:
    levels.measure(measured)
    seen = lines(measured.record, row(levels.ROW))
    cases = [f"{width} connection{'s' * (width > 1)}" for width in levels.WIDTHS]
    expected = [f"{case}, {name}" for case in [*cases, f"batches of {levels.BATCH}"] for name in levels.NAMES]
    assert list(dict.fromkeys(line.case for line in seen)) == expected
    assert {line.case.partition(", ")[2]: line.other for line in seen if line.other in levels.NAMES} == dict(
        pairwise(levels.NAMES)
    )


def test_processes_that_ended_are_counted_too(server: Server) -> None:
    pid = processor.postmaster(server.dsn)
    assert pid is not None
    before = processor.server_seconds(pid)
    with processor.Meter(pid) as meter, psycopg.connect(server.dsn) as connection:
        connection.execute("select count(sqrt(i)) from generate_series(1, 2000000) i")
    assert processor.server_seconds(pid) - before > 0.05
    cost = meter.cost(1)
    assert cost.server is not None
    assert cost.server > 50_000


def test_a_server_elsewhere_has_no_cpu_and_the_row_says_so(server: Server) -> None:
    with processor.Meter(None) as meter:
        sum(range(100_000))
    cost = meter.cost(10)
    assert cost.server is None
    record = Record()
    record.add("send-one", "1 connection", OURS, "/s", 100, cost=cost)
    (line,) = lines(record, row("send-one"))
    assert remarks([line]) == [NO_SERVER]
    assert cpu(line.cpu).startswith(" + ")
    # A process here that has the number of a server's process at a tunnel's other end, and is no child of a postmaster.
    with patch.object(processor, "_fields", return_value=["S", "1", *["0"] * 20]):
        assert processor.postmaster(server.dsn) is None


def test_every_row_of_pgbench_runs_a_thousand_transactions_a_connection() -> None:
    for size in (QUICK, FULL):
        assert size.each >= 1000
        assert size.warm > 0


@pytest.mark.slow
def test_publishing_to_a_hundred_subscriptions_is_measured_beside_one_and_has_a_goal_of_its_own(
    measured: Bench,
) -> None:
    topics.spread(measured)
    (found,) = measured.record.results
    assert (found.row, found.who, found.unit, len(found.values)) == ("topic-publish", OURS, "ratio", 4)
    for ratio, expected in ((0.96, "✓"), (0.94, "✗")):
        line = Line(found.case, ratio, "ratio", "", 0, 0, (ratio, ratio), 1)
        assert reached(row("topic-publish"), line) == expected


@pytest.mark.slow
def test_drains_with_and_without_a_held_snapshot_go_side_by_side(measured: Bench) -> None:
    held.measure(measured)
    topics.held(measured)
    for lane in held.LANES:
        held.measure_lane(measured, lane)
    for row, who in (
        ("held", OURS),
        ("held", floor.SKIPPING),
        ("topic-held", OURS),
        *((lane, OURS) for lane in held.LANES),
    ):
        clean, slowed = (measured.record.find(row, case, who) for case in held.CASES)
        assert clean is not None
        assert slowed is not None
        assert len(clean.series) == len(slowed.series) == TINY.held // TINY.held_round
        assert measured.record.find(row, held.KEPT, who) is not None


@pytest.mark.slow
def test_the_audits_that_are_measured_find_the_journal_sound(measured: Bench, spark: "SparkSession") -> None:
    measured.size = replace(TINY, rounds=1)
    with patch("howdah.audit.spark_session", return_value=nullcontext(spark)):
        audits.measure(measured)
        audits.live(measured)
    assert {result.row for result in measured.record.results} == {audits.ROW, audits.LIVE}
    assert measured.record.find(audits.LIVE, "8 connections", audits.ALONE) is not None


@pytest.mark.slow
def test_the_console_is_measured_with_something_on_every_page(
    dsn: str, db: Db, capsys: pytest.CaptureFixture[str]
) -> None:
    consoles.build(db, 10, 1000)
    assert one(db, "select count(*) from howdah.poison_causes(max_causes => 1000)") == 8
    for filled in (
        "poison()",
        "acts()",
        "topics()",
        "subscriptions()",
        "schedules()",
        "links()",
        "leases()",
        "consumers()",
    ):
        assert one(db, f"select count(*) from howdah.list_{filled}") >= 5, filled
    assert one(db, "select count(*) from howdah.flow_history('bench_q0', 'week')") > 50
    with consoles.console(dsn) as port:
        consoles.wait(port)
        consoles.pages(port, 1)
    said = capsys.readouterr().out
    for page in ("/causes", "/schedules", "/audit?id=", "/trace?id=", "fingerprint=", "every page"):
        assert page in said


@pytest.mark.slow
def test_rows_behind_the_listeners_import_nothing_from_the_folder_that_the_bench_is_run_in(
    measured: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listener.run(measured, "default settings")
    assert str(tmp_path) not in sys.path
