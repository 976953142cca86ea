"""Celery on Howdah and on Redis, in turn: tasks a second of one worker, and how long a task waits when none does.

``python -m howdah.benchmarks.celery_brokers URL…`` with URLs such as howdah://user@host/database,
pgmq://user@host/database and redis://host. The
tasks are sent before the worker starts. It needs the extra ``celery``, and redis-py for Redis. Run it alone: a busy
machine shows in the waits first.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from celery import Celery

APPLICATION = """
import os, time
from howdah.benchmarks.celery_brokers import application
app = application(os.environ["BENCH_URL"])
told = os.open(os.environ["BENCH_FILE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

@app.task(name="noop")
def noop(sent):
    os.write(told, b"%.6f %.6f\\n" % (sent, time.time()))
"""
OPTIONS = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR")
SINGLE = 150
"""Tasks that are sent one at a time to an idle worker."""
APART = 0.04
"""Seconds between two of them, on the average."""
PATIENCE = 50.0


@dataclass(frozen=True)
class Measured:
    """What one worker did."""

    rate: float
    #: Milliseconds between the sending and the running of each single task.
    waits: list[float]

    def wait(self, percent: int) -> float:
        """A percentile of the waits."""
        return statistics.quantiles(self.waits, n=100)[percent - 1]


def application(url: str) -> Celery:
    """An app whose results nobody wants."""
    app = Celery("bench", broker=url)
    app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=100, broker_connection_retry_on_startup=True)
    if url.startswith("howdah:"):
        app.conf.broker_transport = "howdah.kombu:Transport"
    elif url.startswith("pgmq:"):
        app.conf.broker_transport_options = {"init_extension": False}
    return app


def measure(url: str, pool: str, tasks: int, single: int = SINGLE) -> Measured:
    """Run one worker."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told"
        told.touch()
        (Path(folder) / "bench_application.py").write_text(APPLICATION)
        paths = os.pathsep.join([folder, *filter(None, sys.path)])
        environment = os.environ | {"BENCH_URL": url, "BENCH_FILE": str(told), "PYTHONPATH": paths}
        send(url, tasks, pause=0)
        python = [sys.executable, "-P", "-W", "ignore"]
        program = [*python, "-m", "celery", "-A", "bench_application", "worker", "-P", pool, *OPTIONS]
        with subprocess.Popen(program, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as worker:
            try:
                ends = sorted(end for _, end in wait_for(told, tasks))
                send(url, single, pause=APART)
                waits = [(end - sent) * 1000 for sent, end in wait_for(told, tasks + single)[tasks:]]
            finally:
                worker.kill()
    return Measured((tasks - 1) / (ends[-1] - ends[0]), waits)


def line(url: str, pool: str, found: Measured) -> str:
    """What came out, for people."""
    return (
        f"{url.split(':')[0]:8} {pool:8} {found.rate:6.0f} tasks/s"
        f"   waits p50 {found.wait(50):5.1f} ms, p90 {found.wait(90):5.1f} ms"
    )


def send(url: str, tasks: int, pause: float) -> None:
    """Send tasks, with random pauses."""
    with application(url) as app, app.producer_pool.acquire() as producer:
        for _ in range(tasks):
            time.sleep(pause * random.uniform(0.5, 1.5))
            app.send_task("noop", (time.time(),), producer=producer)


def wait_for(told: Path, tasks: int) -> list[tuple[float, float]]:
    """When each task was sent and run, once so many have."""
    deadline = time.monotonic() + PATIENCE
    while (text := told.read_text()).count("\n") < tasks:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{text.count(chr(10))} of {tasks} tasks in {PATIENCE:.0f} s")
        time.sleep(0.05)
    return [(float(sent), float(end)) for sent, end in map(str.split, text.splitlines())]


def main() -> None:
    """Measure each broker that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", nargs="+")
    parser.add_argument("--pool", default="solo", choices=["solo", "prefork", "threads"])
    parser.add_argument("--tasks", type=int, default=2000)
    given = parser.parse_args()
    for url in given.urls:
        print(line(url, given.pool, measure(url, given.pool, given.tasks)), flush=True)


if __name__ == "__main__":
    main()
