"""The peers: what brings each, the settings it is run with, and how many of the messages it is given."""

from __future__ import annotations

from dataclasses import dataclass


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
    #: Of the messages of a drain: slow ones are given fewer.
    share: float = 1.0
    #: A worker that waits, and a default way of working. pgmq leaves both to its users.
    waits: bool = True

    @property
    def distribution(self) -> str:
        """The package whose version is the peer's."""
        return self.packages[0]


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
        waits=False,
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
)
