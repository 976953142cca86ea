"""The benchmarks run, keep what they measure, and say what became slower; no figure is judged here."""

import asyncio
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch
from urllib.parse import urlsplit

import psycopg
import pytest
from command import howdah, refused
from rich.console import Console
from support import Db, Server, column, one

from howdah.benchmarks import (
    audits,
    broker,
    celery_brokers,
    celery_row,
    consoles,
    firstcall,
    floor,
    held,
    levels,
    listener,
    pgmq,
    processor,
    rows,
    stream,
    topics,
)
from howdah.benchmarks.bench import Bench
from howdah.benchmarks.clients import Peers
from howdah.benchmarks.compare import compare
from howdah.benchmarks.lines import Line, lines
from howdah.benchmarks.peers.catalogue import PEERS, missing
from howdah.benchmarks.peers.environment import HERE, Environment, PeerFailed
from howdah.benchmarks.peers.with_pgq import Pgq
from howdah.benchmarks.place import Place, url
from howdah.benchmarks.record import OURS, Record
from howdah.benchmarks.report import write
from howdah.benchmarks.row import Row
from howdah.benchmarks.rows import KEYS, ROWS
from howdah.benchmarks.run import run
from howdah.benchmarks.servers import redis
from howdah.benchmarks.show import NO_SERVER, cpu, reached, remarks, verdict
from howdah.benchmarks.size import FULL, QUICK, TINY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUICK_ROWS = ("send-one", "receive-100", "first-call", "send-1000", "load", "latency", "held", "backlog")


def bench(dsn: str, folder: Path, *rows: str) -> Record:
    """Run rows on the server at ``dsn``; the record, which is as it is on disk."""
    only = [word for row in rows for word in ("--only", row)]
    kept, page = folder / "bench.json", folder / "bench.html"
    done = howdah(dsn, "bench", "--dsn", dsn, "--tiny", "--rounds", 1, "--json", kept, "--page", page, *only)
    assert done.code == 0, done
    return Record.read(kept)


@pytest.mark.slow
def test_rows_are_measured_kept_and_drawn_and_nothing_is_left(server: Server, dsn: str, db: Db, tmp_path: Path) -> None:
    if server.embedded is None:
        pytest.skip("pgbench comes with the embedded server")
    before = column(db, "select queue from howdah.list_queues()")

    record = bench(dsn, tmp_path, *QUICK_ROWS)

    assert record.absent == {}
    assert {result.row for result in record.results} == set(QUICK_ROWS)
    for result in record.results:
        assert result.values
        assert min(result.values) > 0, result
    assert record.about["server"]["fsync"] == "on"
    assert {"date", "machine", "versions", "size"} <= record.about.keys()

    for key in ("send-one", "receive-100", "send-1000", "load"):
        for result in (result for result in record.results if result.row == key):
            assert len(result.server_cpu) == len(result.client_cpu) == len(result.values), result
            assert min(*result.server_cpu, *result.client_cpu) >= 0
    for call in firstcall.CALLS:
        first = record.find(firstcall.ROW, f"{call}, {firstcall.CPU}", OURS)
        assert first is not None
        assert len(first.values) == TINY.firsts
        assert record.find(firstcall.ROW, f"{call}, {firstcall.TIME}", firstcall.BARE) is not None

    sent = record.find("send-one", "1 connection", OURS)
    floor = record.find("send-one", "1 connection", "bare INSERT")
    assert sent is not None
    assert floor is not None
    assert sent.advantage(floor) == pytest.approx(sent.median / floor.median)

    page = (tmp_path / "bench.html").read_text()
    assert page.count("<svg") == 4  # throughput over connections, latency, and two drains
    for row in ROWS:
        assert (row.title in page) == (row.key in QUICK_ROWS)

    again = tmp_path / "again.json"
    done = howdah(
        dsn, "bench", "--dsn", dsn, "--tiny", "--again", tmp_path / "bench.json", "--json", again, "--only", "counts"
    )
    assert done.code == 0, done
    both = Record.read(again)
    assert {result.row for result in both.results} == {*QUICK_ROWS, "counts"}
    assert list(both.about["again"]) == ["counts"]
    assert both.find("send-one", "1 connection", OURS) == sent
    assert not both.pieced

    assert column(db, "select queue from howdah.list_queues()") == before
    assert one(db, "select count(*) from pg_namespace where nspname like 'howdah_bench%'") == 0


@pytest.mark.slow
def test_how_bodies_are_stored_is_measured_on_a_server_of_its_own_alone(tmp_path: Path) -> None:
    """Only the tables' owner may alter them, and the measured role is an application's."""
    kept = tmp_path / "toast.json"
    done = howdah("", "bench", "--tiny", "--rounds", 1, "--only", "toast", "--json", kept)
    assert done.code == 0, done.err
    record = Record.read(kept)
    assert record.absent == {}
    assert {"pglz", "EXTERNAL"} <= {result.who for result in record.results}


def test_what_is_not_its_own_is_left_alone(dsn: str, db: Db) -> None:
    db.execute("select howdah.create_queue('bench_mine')")
    refused(howdah(dsn, "bench", "--dsn", dsn, "--tiny", "--only", "backlog"), "not by us")
    assert one(db, "select count(*) from howdah.list_queues() where queue = 'bench_mine'") == 1


@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_by_the_next(dsn: str, db: Db, tmp_path: Path) -> None:
    db.execute("create schema howdah_bench; comment on schema howdah_bench is 'Made and removed by howdah bench.'")
    db.execute("select howdah.create_queue('bench_queue'), howdah.send('bench_queue', 'left'::text)")
    assert bench(dsn, tmp_path, "backlog").absent == {}
    assert one(db, "select count(*) from howdah.list_queues() where queue like 'bench%'") == 0


def test_a_server_that_is_not_durable_is_refused(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"alter database {connection.info.dbname} set synchronous_commit = off".encode())
    refused(howdah(dsn, "bench", "--dsn", dsn, "--tiny"), "not durable")


def sample(rate: float, floor: float = 1000.0) -> Record:
    """A record of two rows, one with its floor in the same run."""
    record = Record({"date": "then"})
    for wobble in (0.99, 1.0, 1.01):
        record.add("send-one", "1 connection", OURS, "/s", rate * wobble)
        record.add("send-one", "1 connection", "bare INSERT", "/s", floor * wobble)
        record.add("backlog", "drained", OURS, "/s", rate * wobble)
        record.add("large", "queue_stats", OURS, "ms", 2.5 * (900 / rate) * wobble)
    return record


def test_compare_tells_a_slowdown_from_a_slower_machine(tmp_path: Path) -> None:
    assert not any(change.slower for change in compare(sample(900), sample(900)))
    slower = {(change.row, change.relative) for change in compare(sample(900), sample(600)) if change.slower}
    assert slower == {("send-one", True), ("backlog", False), ("large", False)}
    # Everything at half the speed, the floor too: the row that has one is not slower.
    machine = {change.row for change in compare(sample(900), sample(450, 500)) if change.slower}
    assert machine == {"backlog", "large"}

    old, new = tmp_path / "old.json", tmp_path / "new.json"
    sample(900).write(old)
    sample(600).write(new)
    done = howdah("", "bench", "--record", new, "--against", old)
    assert done.code == 1
    assert done.out.count("slower") == 3
    assert howdah("", "bench", "--record", old, "--against", old).code == 0


def test_repetitions_that_overlap_are_no_change() -> None:
    old, new = sample(900), sample(900)
    for result in new.results:
        result.values = [result.values[0] * 0.5, *result.values]
    assert not any(change.slower for change in compare(old, new))


def test_a_record_whose_rows_were_all_measured_again_has_no_date_of_its_own(tmp_path: Path) -> None:
    new = {"machine": {"cores": 4}, "versions": {"PostgreSQL": "18.5"}, "server": {"fsync": "on"}}
    record = sample(900)
    record.about |= {"machine": {"cores": 2}, "versions": {"PostgreSQL": "18.4", "pgmq": "1"}, "server": {}}
    record.about |= {"load before": 1.0, "size": "full", "rounds": 3, "body": "64 bytes", "journal_level": "exits"}
    record.renew(new)

    def page() -> str:
        record.add("backlog", "drained", OURS, "/s", 1, [1, 2])
        write(record, tmp_path / "page.html")
        return (tmp_path / "page.html").read_text()

    for row in ("send-one", "backlog"):
        record.forget(row, "later")
    assert "<th>Date" in (some := page())
    assert "<th>Measured again" in some
    record.forget("large", "later")
    assert "<th>Date" not in (every := page())
    assert "<th>Measured<" in every
    assert "backlog: later" in every
    assert "cores 4" in every
    assert "PostgreSQL 18.5, pgmq 1" in every


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = sample(900)
    record.write(tmp_path / "kept.json")
    assert Record.read(tmp_path / "kept.json") == record
    (tmp_path / "other.json").write_text(json.dumps({"format": 0}))
    refused(howdah("", "bench", "--record", tmp_path / "other.json"), "no benchmark record", code=2)
    refused(howdah("", "bench", "--only", "nonsense"), KEYS[0], code=2)


def test_peers_import_nothing_of_howdah() -> None:
    for program in HERE.glob("with_*.py"):
        assert "howdah" not in program.read_text().lower()
        assert "from .." not in program.read_text()


def row(key: str) -> Row:
    return next(row for row in ROWS if row.key == key)


def test_a_peer_whose_package_is_missing_is_left_out_in_one_line(tmp_path: Path) -> None:
    assert missing([("/etc/passwd", "passwd"), ("sh", "dash")]) == ""
    lacking = [("no-such-program", "one"), ("/no/such/file", "two"), ("/no/such/other", "two")]
    assert missing(lacking) == "not installed; on Debian: apt-get install one two"
    entry = replace(PEERS[0], needs=tuple(lacking))
    with pytest.raises(PeerFailed, match="apt-get install one two"):
        Environment(tmp_path).bring(entry)
    assert list(tmp_path.iterdir()) == []


def test_a_peers_program_imports_nothing_from_the_folder_that_the_bench_is_run_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our copy has a folder kombu/, which Celery would take for its own."""
    program = tmp_path / "programs" / "peers" / "with_celery.py"
    python = tmp_path / "python" / "bin" / "python"
    for file in (program, python):
        file.parent.mkdir(parents=True)
    program.write_text("import json, sys\nprint(json.dumps([*sys.argv[1:], *sys.path]))")
    python.symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path / "python")
    (celery,) = [entry for entry in PEERS if entry.name == "celery on Redis"]
    ((word, *paths),) = Environment(tmp_path).call(celery, "redis://nowhere", "send")
    assert word == "send"
    assert not {"", str(tmp_path / "python")} & set(paths)
    assert str(tmp_path / "programs") in paths


def test_goals_mark_ratios_by_who_stands_beside_and_figures_alone() -> None:
    record = Record()
    record.add("receive-100", "1 connection", OURS, "/s", 310_000)
    record.add("receive-100", "1 connection", pgmq.WHO, "/s", 120_000)
    record.add("receive-100", "1 connection", "bare table, SKIP LOCKED", "/s", 1_000_000)
    marks = {
        line.other: (verdict(row("receive-100"), line), reached(row("receive-100"), line))
        for line in lines(record, row("receive-100"))
    }
    assert marks == {pgmq.WHO: ("✗", ""), "bare table, SKIP LOCKED": ("", "")}
    for case, ratio, said in (
        ("4 connections", 0.75, "✓"),
        ("64 connections", 0.5, "✓"),
        ("64 connections", 0.49, "✗"),
    ):
        line = Line(case, 100, "/s", "bare INSERT", 100 / ratio, ratio, (100, 100), 1)
        assert (verdict(row("send-one"), line), reached(row("send-one"), line)) == (said, "")
    for case, rate in (("4 consumers, by 1", 4_000), ("4 consumers, by 100", 80_000)):
        alone = Line(case, rate, "/s", "", 0, 0, (rate, rate), 1)
        assert reached(row("topic-shared"), alone) == "✓"

    for case, ours, expected in (("p50", 1.4, "✓"), ("p50", 1.6, "✗"), ("p99", 3.9, "✓"), ("p99", 4.1, "✗")):
        line = Line(case, ours, "ms", "bare commit with NOTIFY", 0.6, 0.6 / ours, (ours, ours), 1)
        assert reached(row("latency"), line) == expected
        assert verdict(row("latency"), line) == ({1.4: "✗", 1.6: "✗"}.get(ours, ""))


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


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        ([0.8], "one pair"),
        ([0.8, 0.81, 0.82, 0.83], ""),
        ([0.9, 0.97, 1.02, 1.1], "within noise"),
        ([0.2, 0.4, 0.6, 0.8], "unsteady"),
        ([1.3, 1.4, 1.45, 3.0], "unsteady"),
    ],
)
def test_a_ratio_that_says_little_is_marked(pairs: list[float], says: str, tmp_path: Path) -> None:
    record = Record({"machine": {}, "versions": {}, "server": {}, "date": "now", "load before": 1.0, "size": "full"})
    record.about |= {"rounds": 4, "body": "64 bytes", "journal_level": "exits"}
    for ratio in pairs:
        record.add("send-one", "1 connection", OURS, "/s", 1000 * ratio)
        record.add("send-one", "1 connection", "bare INSERT", "/s", 1000)
    (line,) = lines(record, row("send-one"))
    assert line.doubt == says
    write(record, tmp_path / "page.html")
    assert f"<small>{says}</small>" in (tmp_path / "page.html").read_text()


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


def test_a_row_that_only_a_peer_has_shows_no_figure_of_ours() -> None:
    record = Record()
    record.add(stream.ROW, "batches of 10,000", "PgQ", "/s", 400_000)
    (line,) = lines(record, row(stream.ROW))
    assert (line.ours, line.other, line.theirs, line.ratio) == (0, "PgQ", 400_000, 0)
    assert (verdict(row(stream.ROW), line), reached(row(stream.ROW), line)) == ("", "")


def test_pgmq_of_the_users_server_is_measured_and_its_queue_dropped(dsn: str, db: Db, tmp_path: Path) -> None:
    db.execute("""
        create schema pgmq;
        create table pgmq.q_howdah_bench (msg_id bigint generated always as identity primary key, message jsonb);
        create function pgmq.create(text) returns void language sql as '';
        create function pgmq.drop_queue(text) returns boolean language sql as
            'truncate pgmq.q_howdah_bench; select true';
        create function pgmq.send_batch(text, jsonb[]) returns setof bigint language sql as
            'insert into pgmq.q_howdah_bench (message) select unnest($2) returning msg_id';
        create function pgmq.read(text, int, int) returns setof pgmq.q_howdah_bench language sql as
            'select * from pgmq.q_howdah_bench order by msg_id limit $3 for update skip locked';
        create function pgmq.delete(text, bigint[]) returns setof bigint language sql as
            'delete from pgmq.q_howdah_bench where msg_id = any($2) returning msg_id';
    """)
    record = bench(dsn, tmp_path, "receive-100")
    assert record.find("receive-100", "1 connection", pgmq.WHO) is not None
    assert one(db, "select count(*) from pgmq.q_howdah_bench") == 0


@pytest.mark.slow
def test_clients_in_java_receive_by_jdbc_after_a_tenth_as_a_warm_up(dsn: str, db: Db) -> None:
    if lacking := missing(broker.NEEDS):
        pytest.skip(f"ActiveMQ {lacking}")
    db.execute(
        "select howdah.create_queue('bench_queue'), howdah.send_batch('bench_queue', array_fill('x'::text, array[60]))"
    )
    assert broker.clients("jdbc", broker.jdbc(dsn), "receive", 1, 50) > 0
    assert one(db, "select count(*) from howdah.msgs") == 5


def test_redis_is_there_for_one_peer_and_gone_afterwards() -> None:
    if lacking := missing([("redis-server", "redis-server")]):
        pytest.skip(f"Redis {lacking}")
    with redis() as found:
        address = urlsplit(found).hostname, urlsplit(found).port
        with socket.create_connection(address) as connection:
            connection.sendall(b"config get appendonly\r\n")
            assert b"yes" in connection.recv(1000)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(address)


@pytest.mark.slow
def test_pgq_hands_out_every_event_tick_by_tick() -> None:
    if lacking := next(entry for entry in PEERS if entry.name == "PgQ").missing:
        pytest.skip(f"PgQ {lacking}")
    with Place.own(15) as place, place.database(empty=True) as dsn:
        pgq = Pgq()
        asyncio.run(pgq.install(url(dsn)))
        assert asyncio.run(pgq.send(url(dsn), 200, 100)) > 0
        with psycopg.connect(dsn, autocommit=True) as connection:
            assert one(connection, "select pgq.ticker('bench') is not null")
        # One tick is read before the clock runs: here that of the 200.
        assert asyncio.run(pgq.stream(url(dsn), "client", 300, 100, 100))["count"] == 400
        assert asyncio.run(pgq.stream(url(dsn), "server", 300, 100, 50))["count"] == 300


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


def test_what_celerys_row_needs_is_named() -> None:
    assert celery_row.lacking("celery", "psycopg", program=sys.executable) == ""
    assert celery_row.lacking("nothing_here", program="no-such-program") == (
        "not installed here: nothing_here, no-such-program"
    )


@pytest.mark.slow
def test_celerys_worker_is_measured(dsn: str) -> None:
    found = celery_brokers.measure(url(dsn).replace("postgresql", "howdah", 1), "solo", 100, 5)
    assert found.rate > 0
    assert len(found.waits) == 5
    assert min(found.waits) <= found.wait(50) <= max(found.waits)


@pytest.mark.slow
def test_rows_behind_the_listeners_import_nothing_from_the_folder_that_the_bench_is_run_in(
    measured: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    listener.run(measured, "default settings")
    assert str(tmp_path) not in sys.path


def test_a_row_that_lacks_a_package_is_left_out_and_the_rows_behind_it_are_measured(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(bench: Bench, peers: Peers) -> None:
        raise ImportError("no module of that name")

    def measuring(bench: Bench, peers: Peers) -> None:
        bench.record.add("second", "case", OURS, "/s", 1)

    found = [Row("first", "The first", lacking), Row("second", "The second", measuring)]
    monkeypatch.setattr(rows, "chosen", lambda only, bench: found)
    monkeypatch.setattr(Place, "database", lambda place: nullcontext())
    record = run(Console(quiet=True), TINY, dsn=server.dsn)
    assert record.absent["first"] == "no module of that name"
    assert [result.row for result in record.results] == ["second"]
