"""What the Python peers share: the command line, the count of what was handled, and the timing of single messages."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

BODY = "x" * 64
#: Seconds of silence after which a worker has finished: by default some poll every 5. The first message may take
#: longer.
QUIET = {"best": 2.0, "default": 6.0}
FIRST = 20.0
#: How long a worker is watched at most.
LIMIT = 12.0
APART = (0.005, 0.03)


class Tally:
    """How many handlers were called, and when first and last."""

    def __init__(self) -> None:
        self.count = 0
        self.first = self.last = 0.0
        #: The next message is the one that is waited for.
        self.arrival: asyncio.Event | None = None

    def add(self) -> None:
        """A handler was called."""
        self.last = time.time()
        if not self.count:
            self.first = self.last
        self.count += 1
        if self.arrival is not None:
            self.arrival.set()

    async def quiet(self, expected: int, seconds: float) -> None:
        """Until all have come, or nothing for a while, or it has taken long enough."""
        started = time.time()
        while True:
            await asyncio.sleep(0.05)
            now = time.time()
            if self.count >= expected or now > (
                min(self.last + seconds, self.first + LIMIT) if self.count else started + FIRST
            ):
                return


tally = Tally()


class Peer(Protocol):
    """What a module of this folder provides."""

    async def install(self, dsn: str) -> None:
        """Make its tables in an empty database."""

    async def send(self, dsn: str, messages: int, batch: int) -> float:
        """Send by one connection, so many a call; returns seconds."""

    async def work(self, dsn: str, best: bool, until: Callable[[Any], Awaitable[None]]) -> None:
        """Run a worker whose handler only calls tally.add, until ``until`` returns. That gets what sends a message."""


def main(peer: Peer) -> None:
    """Run one command and print its line; leave without the peer's own farewell, which is not measured."""
    command, *words = sys.argv[1:]
    print(json.dumps(asyncio.run(_run(peer, command, os.environ["BENCH_DSN"], words))), flush=True)
    os._exit(0)


async def _run(peer: Peer, command: str, dsn: str, words: list[str]) -> dict[str, Any]:
    if command == "install":
        await peer.install(dsn)
        return {}
    if command == "send":
        return {"seconds": await peer.send(dsn, int(words[0]), int(words[1]))}
    if command == "stream":
        return await peer.stream(dsn, words[0], *map(int, words[1:]))  # type: ignore[attr-defined, no-any-return]
    taken: list[float] = []

    async def until(send_one: Callable[[], Awaitable[Any]]) -> None:
        if command == "work":
            await tally.quiet(int(words[1]), QUIET[words[0]])
        else:
            taken.extend(await _latency(send_one, int(words[0])))
        line = {"count": tally.count, "first": tally.first, "last": tally.last, "ms": taken}
        print(json.dumps(line), flush=True)
        os._exit(0)

    await peer.work(dsn, command == "latency" or words[0] == "best", until)
    raise RuntimeError("the worker ended by itself")


async def _latency(send_one: Callable[[], Awaitable[Any]], samples: int) -> list[float]:
    chosen = random.Random(1)
    taken = []
    await asyncio.sleep(1.5)  # it has started and found nothing
    tally.arrival = asyncio.Event()
    for _ in range(samples + 3):
        await asyncio.sleep(chosen.uniform(*APART))
        tally.arrival.clear()
        started = time.time()
        await send_one()
        await asyncio.wait_for(tally.arrival.wait(), 30)
        taken.append(1000 * (tally.last - started))
    return taken[3:]
