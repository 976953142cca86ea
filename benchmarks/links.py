"""How fast a link forwards between two databases of one server, and how long one message is under way."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..engine import connect
from ..engine.database.waking import Waking
from ..workers.links import Forwarder
from . import latency
from .bench import BODY, QUEUE, Bench, fill, opened, settle
from .record import OURS

ROW = "link"
LINK = "bench"
VARIABLE = "HOWDAH_BENCH_TARGET"


def measure(bench: Bench) -> None:
    """A backlog forwarded, then single messages to an idle consumer at the target."""
    messages = max(2000, bench.size.messages)
    with bench.database() as source, bench.database() as target:
        os.environ[VARIABLE] = target
        try:
            with opened(source) as connection:
                connection.execute(
                    "select howdah.create_link(%s, %s, %s, dsn_env => %s)", (LINK, QUEUE, QUEUE, VARIABLE)
                )
            for _ in range(bench.size.rounds):
                with opened(source) as connection:
                    fill(connection, QUEUE, messages)
                    settle(connection)
                with bench.meter(source) as meter, forwarding(source) as forwarder:
                    begun = time.perf_counter()
                    while forwarder.forwarded < messages:
                        time.sleep(0.001)
                    took = time.perf_counter() - begun
                bench.record.add(ROW, "a backlog", OURS, "/s", messages / took, cost=meter.cost(messages))
                with opened(target) as connection:
                    connection.execute("select howdah.purge_queue(%s)", (QUEUE,))
            with forwarding(source):
                for _ in range(bench.size.rounds):
                    latency.record(bench, OURS, _under_way(source, target, bench.size.samples), row=ROW)
        finally:
            del os.environ[VARIABLE]


@contextmanager
def forwarding(source: str) -> Iterator[Forwarder]:
    """A forwarder while the block runs."""
    stopping, waking = threading.Event(), Waking.of(source)
    forwarder = Forwarder(source, LINK, "bench", stopping, waking)
    forwarder.start()
    try:
        yield forwarder
    finally:
        stopping.set()
        forwarder.wake()
        forwarder.join()
        waking.release()


def _under_way(source: str, target: str, samples: int) -> list[float]:
    """Milliseconds from the call of send at the source to the consumer's hand at the target."""
    timer, ending = latency.Timer(), threading.Event()
    with connect(source, max_size=2) as here, connect(target, max_size=2) as there:

        def listen() -> None:
            with there.session() as session:
                while not ending.is_set():
                    if session.receive(QUEUE, wait=1):
                        timer.arrived()
                        session.commit()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        with here.session() as session:

            def send() -> None:
                session.send(QUEUE, BODY)
                session.commit()

            taken = timer.run(send, samples)
        ending.set()
        thread.join()
    return taken
