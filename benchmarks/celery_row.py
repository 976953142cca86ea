"""The row of Celery's brokers: one worker of Celery on Howdah, on Redis and on the real pgmq, in turn."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from importlib.util import find_spec

from .bench import Bench, opened
from .clients import Peers
from .place import url
from .record import OURS
from .servers import redis

ROW = "celery"
REDIS, PGMQ = "celery on Redis", "celery on pgmq"
POOL = "prefork"
TASKS, WAIT = f"tasks, {POOL}", f"wait p50, {POOL}"
SETTINGS = f"{POOL} with a process for each core, prefetch multiplier 100, without gossip, mingle and heartbeat"
SHARE = 0.04
"""The share of a drain's messages: some of the brokers are slow."""
SINGLE = 150
"""The most tasks that are sent to an idle worker: each takes 40 ms."""


def lacking(*packages: str, program: str = "") -> str:
    """What has to be installed first, in one line; empty if nothing is missing."""
    missing = [package for package in packages if find_spec(package) is None]
    missing += [program] if program and shutil.which(program) is None else []
    return f"not installed here: {', '.join(missing)}" if missing else ""


def measure(bench: Bench, peers: Peers) -> None:
    """Each broker, ``rounds`` times. What is not installed is left out and named."""
    if why := lacking("celery"):
        peers.absent(ROW, why)
        return
    others = {REDIS: lacking("redis", program="redis-server"), PGMQ: lacking("pgmq")}
    for name, why in others.items():
        bench.record.settings[name] = SETTINGS
        if why:
            peers.absent(name, why)
    for turn in range(bench.size.rounds):
        with bench.database() as dsn:
            one_turn(bench, OURS, url(dsn).replace("postgresql", "howdah", 1))
        if turn >= bench.size.peer_rounds or not peers.wanted:
            continue
        if not others[REDIS]:
            with redis() as found:
                one_turn(bench, REDIS, found)
        if not others[PGMQ]:
            with real_pgmq(bench) as found:
                one_turn(bench, PGMQ, found)


def one_turn(bench: Bench, who: str, broker: str) -> None:
    """One worker on one broker."""
    from .celery_brokers import measure as run  # needs Celery

    found = run(broker, POOL, max(100, int(bench.size.listened * SHARE)), min(bench.size.samples, SINGLE))
    bench.record.add(ROW, TASKS, who, "/s", found.rate)
    bench.record.add(ROW, WAIT, who, "ms", found.wait(50))


@contextmanager
def real_pgmq(bench: Bench) -> Iterator[str]:
    """The URL of a database with the functions that pgmq's package brings."""
    with bench.place.database(empty=True) as dsn:
        with opened(dsn) as connection:
            connection.execute("create schema if not exists pgmq")
            connection.execute((files("pgmq") / "sql" / "pgmq.sql").read_bytes())
        yield url(dsn).replace("postgresql", "pgmq", 1)
