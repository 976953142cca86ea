"""Single messages against the bare statements they contain, by pgbench, in pairs on one durable server."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psycopg

from howdah.engine.embedded import EmbeddedServer

BODY = "x" * 64
SETUP = f"""
drop schema if exists bench cascade;
create schema bench;
create table bench.floor (id bigint primary key, rank smallint, sent_at timestamptz, body text);
create table bench.gone (at timestamptz, queue integer, ids bigint[]);
create sequence bench.next;
create sequence bench.take;
create function bench.fill(n bigint) returns void language sql as $$
    truncate bench.floor;
    insert into bench.floor select g, 4, clock_timestamp(), '{BODY}' from generate_series(1, n) g;
    select setval('bench.take', 1, false);
    select howdah.purge_queue('bench');
    select howdah.send_batch('bench', array_agg('{BODY}'::text)) from generate_series(1, n) g group by g / 10000;
$$;
"""


@dataclass(frozen=True)
class Pair:
    """Two statements that do the same work: ours and the bare one."""

    name: str
    ours: str
    floor: str
    #: Messages that must lie there for each transaction.
    consumes: int


PAIRS = (
    Pair(
        "send, one message a transaction",
        f"select howdah.send('bench', '{BODY}'::text);",
        f"insert into bench.floor values (nextval('bench.next') + 1000000000, 4, clock_timestamp(), '{BODY}');",
        0,
    ),
    Pair(
        "receive, one message a transaction",
        "select howdah.receive('bench');",
        "with d as (delete from bench.floor where id = (select nextval('bench.take')) returning *)"
        ", j as (insert into bench.gone select clock_timestamp(), 1, array_agg(id) from d) select * from d;",
        1,
    ),
    Pair(
        "receive, 100 messages a transaction",
        "select count(*) from howdah.receive('bench', 100);",
        "with d as (delete from bench.floor where id = any(array(select nextval('bench.take') from generate_series(1, 100))) returning *)"
        ", j as (insert into bench.gone select clock_timestamp(), 1, array_agg(id) from d) select count(*) from d;",
        100,
    ),
)


@dataclass(frozen=True)
class Result:
    """Medians over the pairs of runs."""

    name: str
    connections: int
    ours_per_second: float
    floor_per_second: float
    ratio: float
    pairs: int


def pgbench(server: EmbeddedServer, dsn: str, script: str, connections: int, transactions: int) -> float:
    """Transactions a second of one run, prepared statements, without connection time."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script + "\n")
        file.flush()
        command = [str(server.bin("pgbench")), "-n", "-M", "prepared", "-f", file.name]
        sizes = ["-c", str(connections), "-j", str(min(connections, 2)), "-t", str(transactions)]
        done = subprocess.run([*command, *sizes, "-d", dsn], capture_output=True, text=True, check=False)
    found = re.search(r"tps = ([\d.]+) \(without", done.stdout)
    if done.returncode or not found:
        raise RuntimeError(f"pgbench failed:\n{done.stderr or done.stdout}")
    return float(found[1])


def measure(server: EmbeddedServer, dsn: str, pair: Pair, connections: int, rounds: int, transactions: int) -> Result:
    """Run ours and the floor in turn, ``rounds`` times, from the same state each time."""
    ours, floor = [], []
    each = max(1, transactions // connections // max(1, pair.consumes))
    for _ in range(rounds):
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("select bench.fill(%s)", (each * connections * pair.consumes + 1,))
            connection.execute("vacuum analyze howdah.msgs")
            connection.execute("checkpoint")
        ours.append(pgbench(server, dsn, pair.ours, connections, each))
        floor.append(pgbench(server, dsn, pair.floor, connections, each))
    per = max(1, pair.consumes)
    ratios = [a / b for a, b in zip(ours, floor, strict=True)]
    return Result(pair.name, connections, median(ours) * per, median(floor) * per, median(ratios), rounds)


def scratch() -> Path:
    """A folder for a server of our own, short enough for its socket."""
    return Path(tempfile.mkdtemp(prefix="howdah-bench-"))
