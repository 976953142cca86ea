"""A real ActiveMQ with its JDBC store for tests, and a store as it once wrote it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import runtimes

from howdah.benchmarks.broker import NEEDS, jdbc

HERE = Path(__file__).parent
RECORDED = HERE / "activemq-5.17.2.json"
"""The three tables of a store, written by ActiveMQ 5.17.2 of Debian 12: what Store.java calls kinds, and topics."""

TABLES = """
create table activemq_msgs (id bigint primary key, container varchar(250), msgid_prod varchar(250), msgid_seq bigint,
    expiration bigint, msg bytea, priority bigint, xid varchar(250));
create index activemq_msgs_midx on activemq_msgs (msgid_prod, msgid_seq);
create index activemq_msgs_cidx on activemq_msgs (container);
create table activemq_acks (container varchar(250) not null, sub_dest varchar(250), client_id varchar(250) not null,
    sub_name varchar(250) not null, selector varchar(250), last_acked_id bigint, priority bigint default 5 not null,
    xid varchar(250), primary key (container, client_id, sub_name));
create table activemq_lock (id bigint primary key, time bigint, broker_name varchar(250));
insert into activemq_lock values (1);
"""


class Broker:
    """A broker that runs, and does what Store.java says."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._answer()

    def __call__(self, *orders: str) -> None:
        assert self._process.stdin is not None
        for order in orders:
            self._process.stdin.write(f"{order}\n")
            self._process.stdin.flush()
            self._answer()

    def stop(self) -> None:
        """As an administrator does; its clients are gone."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(30) == 0

    def _answer(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def running(dsn: str, folder: Path, prefix: str = "") -> Iterator[Broker]:
    """A broker with its store in that database."""
    if missing := [package for file, package in NEEDS if file.endswith(".jar") and not Path(file).is_file()]:
        pytest.skip(f"no ActiveMQ: on Debian, apt-get install {' '.join(sorted(set(missing)))}")
    path = os.pathsep.join(file for file, _ in NEEDS if file.endswith(".jar"))
    start = [str(runtimes.java()), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path]
    with subprocess.Popen(
        [*start, str(HERE / "Store.java"), str(folder), prefix],
        env=os.environ | {"STORE": jdbc(dsn)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield Broker(process)
        finally:
            process.kill()


def record(dsn: str) -> None:
    """Write the file of the recorded store anew, from a store in that database."""
    tables: dict[str, Any] = {}
    with psycopg.connect(dsn) as db:
        for name in ("msgs", "acks"):
            rows = db.execute(f"select * from activemq_{name} order by 1, 3".encode()).fetchall()
            tables[name] = [[value.hex() if isinstance(value, bytes) else value for value in row] for row in rows]
    lines = ",\n".join(
        f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]" for name, rows in tables.items()
    )
    RECORDED.write_text(f"{{\n{lines}\n}}\n")


def restore(dsn: str) -> None:
    """Lay the recorded store into an empty database. What was to live for a day lives for one from now on."""
    tables = json.loads(RECORDED.read_text())
    with psycopg.connect(dsn) as db:
        db.execute(TABLES.encode())
        for row in tables["msgs"]:
            db.execute("insert into activemq_msgs values (%s, %s, %s, %s, %s, decode(%s, 'hex'), %s, %s)", row)
        for row in tables["acks"]:
            db.execute("insert into activemq_acks values (%s, %s, %s, %s, %s, %s, %s, %s)", row)
        db.execute(
            "update activemq_msgs set expiration = extract(epoch from now()) * 1000 + 86400000"
            " where expiration > 0 and msgid_seq = 1"
        )
