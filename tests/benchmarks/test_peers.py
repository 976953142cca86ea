"""Other brokers are measured by programs that know nothing of Howdah, wherever what they need is there."""

import asyncio
import socket
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from support import Db, one

from howdah.benchmarks import (
    broker,
    celery_brokers,
    celery_row,
)
from howdah.benchmarks.peers.catalogue import PEERS, missing
from howdah.benchmarks.peers.environment import HERE, Environment, PeerFailed
from howdah.benchmarks.peers.with_pgq import Pgq
from howdah.benchmarks.place import Place, url
from howdah.benchmarks.servers import redis


def test_peers_import_nothing_of_howdah() -> None:
    for program in HERE.glob("with_*.py"):
        assert "howdah" not in program.read_text().lower()
        assert "from .." not in program.read_text()


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
