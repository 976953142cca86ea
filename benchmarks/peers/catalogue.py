"""The peers: what brings each, the settings it is run with, and how many of the messages it is given."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Entry:
    """One peer."""

    name: str
    #: The module or file of its program, without its ending.
    program: str
    packages: tuple[str, ...]
    #: Its settings for throughput and for idle listening, as printed.
    best: str
    default: str
    node: bool = False
    #: The share of a drain's messages: slow peers get fewer.
    share: float = 1.0
    #: The actions that are measured. pgmq leaves the waiting to its users; PgQ only knows batches.
    actions: tuple[str, ...] = ("send", "work", "latency")
    #: Where it keeps its messages, if not on the measured server.
    server: Literal["", "PostgreSQL 15", "Redis"] = ""
    #: What has to be installed already: a file, and Debian's package that brings it.
    needs: tuple[tuple[str, str], ...] = ()

    @property
    def distribution(self) -> str:
        """The package whose version is the peer's."""
        return self.packages[0]

    @property
    def missing(self) -> str:
        """What has to be installed first, in one line; empty if nothing is missing."""
        return missing(self.needs)


def missing(needs: Sequence[tuple[str, str]]) -> str:
    """Debian's packages whose file is not here, in one line."""
    packages = dict.fromkeys(
        package for file, package in needs if shutil.which(file) is None and not Path(file).exists()
    )
    return f"not installed; on Debian: apt-get install {' '.join(packages)}" if packages else ""


PEERS = (
    Entry(
        "graphile-worker",
        "with_graphile",
        ("graphile-worker",),
        "concurrentJobs 100, localQueue 2000, completeJobBatchDelay 0",
        "run({taskList})",
        node=True,
    ),
    Entry(
        "pg-boss",
        "with_pgboss",
        ("pg-boss",),
        "fetch by 5,000 and complete in a loop of its user",
        "work(queue, handler): one job every 2 seconds",
        node=True,
    ),
    Entry(
        "pgmq",
        "with_pgmq",
        ("pgmq",),
        "read and delete by 100, prepared, in a loop of its user",
        "read and delete one by one, in a loop of its user",
        actions=("send", "work"),
    ),
    Entry(
        "pgqueuer",
        "with_pgqueuer",
        ("pgqueuer", "asyncpg", "uvloop"),
        "asyncpg, uvloop, batch_size 1000",
        "asyncpg, uvloop, run()",
    ),
    Entry(
        "chancy",
        "with_chancy",
        ("chancy",),
        "AsyncExecutor, concurrency 500, eager_polling",
        "AsyncExecutor, Queue(name): 100 every 5 seconds",
    ),
    Entry(
        "procrastinate",
        "with_procrastinate",
        ("procrastinate",),
        "async task, concurrency 20, delete_jobs successful",
        "async task, run_worker_async()",
        share=0.05,
    ),
    Entry(
        "PgQ",
        "with_pgq",
        (),
        "PostgreSQL 15 with the same settings; insert_event over an array; a tick every 10,000 events, one consumer",
        "none: it hands out batches only",
        actions=("send", "stream"),
        server="PostgreSQL 15",
        needs=(("/usr/share/postgresql/15/extension/pgq.control", "postgresql-15-pgq3"),),
    ),
    Entry(
        "celery on Redis",
        "with_celery",
        ("celery", "redis"),
        "Redis appendonly yes, appendfsync everysec (a crash loses up to a second); sent one by one; solo pool,"
        " prefetch"
        " multiplier 100, without gossip, mingle and heartbeat",
        "Redis as above; Worker(): prefork, a process for each core",
        share=0.1,
        server="Redis",
        needs=(("redis-server", "redis-server"),),
    ),
)
