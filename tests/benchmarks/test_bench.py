"""The bench runs its rows, keeps what they measure, and leaves nothing behind; no figure is judged here."""

from contextlib import nullcontext
from pathlib import Path

import psycopg
import pytest
from command import howdah, refused
from rich.console import Console
from support import Db, Server, column, one

from howdah.benchmarks import (
    firstcall,
    pgmq,
    rows,
)
from howdah.benchmarks.bench import Bench
from howdah.benchmarks.clients import Peers
from howdah.benchmarks.place import Place
from howdah.benchmarks.record import OURS, Record
from howdah.benchmarks.row import Row
from howdah.benchmarks.rows import ROWS
from howdah.benchmarks.run import run
from howdah.benchmarks.size import TINY

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


@pytest.mark.slow
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
