"""How long an idle listener waits for a message: from the call of send to the listener's hand."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from statistics import quantiles

import psycopg

from ..engine import connect
from .bench import BODY, QUEUE, Bench, opened

ROW = "latency"
BARE = "bare commit with NOTIFY"
#: Messages come so far apart that the listener is idle again, and not in step with anything.
APART = (0.005, 0.03)


def record(bench: Bench, who: str, milliseconds: list[float], row: str = ROW) -> None:
    """p50 and p99 of one repetition, and the distribution for the plot."""
    cuts = quantiles(milliseconds, n=100, method="inclusive")
    for name, cut in (("p50", cuts[49]), ("p99", cuts[98])):
        bench.record.add(row, name, who, "ms", cut, cuts)


class Timer:
    """Sends one message after the other, each after the one before has arrived."""

    def __init__(self) -> None:
        self._arrived = threading.Event()
        self._at = 0.0

    def arrived(self) -> None:
        """Note that the listener has the message."""
        self._at = time.perf_counter()
        self._arrived.set()

    def run(self, send: Callable[[], object], samples: int) -> list[float]:
        """Milliseconds of each."""
        taken = []
        chosen = random.Random(1)
        for number in range(samples + 3):
            time.sleep(chosen.uniform(*APART) + (0.3 if number == 0 else 0))
            self._arrived.clear()
            started = time.perf_counter()
            send()
            if not self._arrived.wait(30):
                raise RuntimeError("a message did not arrive within 30 seconds")
            taken.append(1000 * (self._at - started))
        return taken[3:]  # the first ones prepare statements


def ours(dsn: str, samples: int, source: str = QUEUE, target: str = QUEUE) -> list[float]:
    """Session.receive with a long wait on a thread, Session.send and commit here.

    source: the queue or subscription that is received from; target: what is sent to.
    """
    timer, ending = Timer(), threading.Event()
    with connect(dsn, max_size=4) as connection:

        def listen() -> None:
            with connection.session() as session:
                while not ending.is_set():
                    if session.receive(source, wait=1):
                        timer.arrived()
                        session.commit()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        with connection.session() as session:

            def send() -> None:
                session.send(target, BODY)
                session.commit()

            taken = timer.run(send, samples)
        ending.set()
        thread.join()
    return taken


def bare(dsn: str, samples: int) -> list[float]:
    """INSERT and NOTIFY in one transaction; the listener waits on its socket and deletes nothing."""
    timer = Timer()
    with opened(dsn) as sender, psycopg.connect(dsn, autocommit=True) as listener:
        sender.execute("create table if not exists woken (body text)")
        listener.execute("listen howdah_bench")

        def listen() -> None:
            for notification in listener.notifies():
                if notification.payload == "end":
                    return
                timer.arrived()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()

        def send() -> None:
            with sender.transaction():
                sender.execute("insert into woken values (%s)", (BODY,))
                sender.execute("notify howdah_bench")

        taken = timer.run(send, samples)
        sender.execute("notify howdah_bench, 'end'")
        thread.join()
    return taken
