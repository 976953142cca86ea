"""The console where there is much to show: what open overviews cost the workers, and how soon pages begin.

``python -m howdah.benchmarks.consoles [--messages N] [--queues N] [--streams N] [--drained N] [--pairs N] [--looks N]
[--dsn DSN]``; DSN: a server where databases may be created. The runs with and without streams are interleaved. The
console and the streams' reader are processes of their own, and speak HTTP.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import re
import selectors
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from html import unescape
from multiprocessing.synchronize import Event
from statistics import median
from urllib.parse import quote

from psycopg.conninfo import make_conninfo

from . import listener
from .bench import BODY, QUEUE, Db, fill, opened, settle
from .contents import FAILING, Contents
from .place import Place

HOST = "127.0.0.1"
SPAWN = multiprocessing.get_context("spawn")
#: Seconds within which something has to answer.
LIMIT = 60.0


def build(connection: Db, queues: int, messages: int) -> None:
    """That many queues with the messages spread over them, what else there is, counted as maintenance does."""
    connection.execute("select howdah.create_queue(%s)", (QUEUE,))
    each = max(1, messages // queues)
    # Few at a time: a transaction holds locks on all that it has made.
    for first in range(0, queues, 20):
        some = (first, min(first + 20, queues) - 1)
        connection.execute(
            "select count(howdah.create_queue('bench_q' || q)) from generate_series(%s::int, %s::int) q", some
        )
        connection.execute(
            "select count(howdah.send_batch('bench_q' || q, b)) from generate_series(%s::int, %s::int) q,"
            " (select array_agg(%s::text) as b from generate_series(1, %s)) x",
            (*some, BODY, each),
        )
    Contents.of(messages).fill(connection)
    settle(connection)
    maintain(connection)


def maintain(connection: Db) -> None:
    """What workers do every few seconds, while none runs."""
    connection.execute("select howdah.maintain_backlog(), howdah.maintain_totals()")


def serve(dsn: str, listening: socket.socket) -> None:
    """The console, in a process of its own."""
    import uvicorn

    from ..console import app

    uvicorn.Server(uvicorn.Config(app(dsn), log_level="warning", ws="none")).run(sockets=[listening])


@contextmanager
def console(dsn: str) -> Iterator[int]:
    """The port of a console of this database."""
    with socket.create_server((HOST, 0)) as listening:
        process = SPAWN.Process(target=serve, args=(dsn, listening), daemon=True)
        process.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            process.kill()
            process.join()
            process.close()


def watch(port: int, path: str, streams: int, all_told: Event) -> None:
    """Open streams and read what they say, until this process is ended."""
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(streams):
            stream = stack.enter_context(socket.create_connection((HOST, port), LIMIT))
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
            selector.register(stream, selectors.EVENT_READ)
        told: set[int] = set()
        while True:
            for key, _ in selector.select():
                assert isinstance(key.fileobj, socket.socket)
                said = key.fileobj.recv(65_536)
                if not said:
                    raise RuntimeError("the console has ended a stream")
                if b"event: figures" in said:
                    told.add(key.fd)
            if len(told) == streams:
                all_told.set()


@contextmanager
def watched(port: int, path: str, streams: int) -> Iterator[None]:
    """While this lasts, so many streams are open, and each has been told figures."""
    all_told = SPAWN.Event()
    process = SPAWN.Process(target=watch, args=(port, path, streams, all_told), daemon=True)
    process.start()
    try:
        deadline = time.monotonic() + LIMIT
        while not all_told.wait(0.1):
            if not process.is_alive() or time.monotonic() > deadline:
                raise RuntimeError("the streams do not say anything")
        yield
    finally:
        process.kill()
        process.join()
        process.close()


def get(port: int, path: str) -> tuple[float, bytes]:
    """Seconds to the first byte of an answer, and its body."""
    connection = http.client.HTTPConnection(HOST, port, timeout=LIMIT)
    try:
        begun = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        first = answer.read(1)
        seconds = time.perf_counter() - begun
        body = first + answer.read()
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise RuntimeError(f"{path} answers {answer.status}: {body[-500:].decode()}")
    return seconds, body


def wait(port: int) -> None:
    """Until the console answers."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        with suppress(OSError):
            get(port, "/")
            return
        time.sleep(0.1)
    raise RuntimeError("the console does not answer")


def live_path(page: bytes) -> str:
    """The stream that a browser opens for a page: that of the busiest queues, or of its own."""
    busiest = re.search(r'data-busiest="(\d+)"', page.decode())
    if busiest:
        return f"/live?busiest={busiest[1]}"
    names = [unescape(name) for name in re.findall(r'data-queue="([^"]+)"', page.decode())]
    return "/live?" + "&".join(f"queue={quote(name, safe='')}" for name in names)


def paths(port: int) -> list[str]:
    """Every page, with a queue and a message that are there."""
    from ..console.pages.catalog import LISTINGS

    queue = "queue=bench_q0"
    found = re.search(rb"[?&;]id=(\d+)", get(port, f"/messages?{queue}")[1])
    one = [f"/message?{queue}&id={found[1].decode()}"] if found else []
    listed = [f"{path}?{queue}" if listing.needed else path for path, listing in LISTINGS.items()]
    firsts = ["/", "/?span=week", "/queues", "/queue?name=bench_q0", "/queue?name=bench_q0&span=week"]
    firsts += [f"/queue?name={FAILING}", f"/messages?{queue}", *one, "/causes", f"/causes?queue={FAILING}"]
    return [*firsts, *_of_failures(port), "/trace?id=" + "a" * 31 + "1", "/found?part=bench", *listed]


def _of_failures(port: int) -> list[str]:
    """The pages of a dead message, of its cause, and of an audit."""
    links = (
        ("/dead", r'/message\?[^"]*id=\d+'),
        ("/dead", r'/dead\?[^"]*fingerprint=\w+'),
        ("/audits", r"/audit\?id=\d+"),
    )
    found = (re.search(link, get(port, page)[1].decode()) for page, link in links)
    return [unescape(match[0]) for match in found if match]


def pages(port: int, looks: int) -> None:
    """Measure and print every page's first byte, and the bytes of the first page with what it loads."""
    times = {path: [get(port, path)[0] * 1000 for _ in range(looks)] for path in paths(port)}
    for path, taken in times.items():
        print(f"{path:44} {median(taken):7.1f} ms, {max(taken):7.1f} at most")
    every = [one for taken in times.values() for one in taken]
    print(f"{'every page':44} {median(every):7.1f} ms, {max(every):7.1f} at most")
    wire = sum(len(get(port, path)[1]) for path in ("/", "/static/console.css", "/static/console.js"))
    print(f"first page with its style and script {wire:,} bytes")


def rate(dsn: str, messages: int) -> float:
    """Messages a second of one worker process at its best settings."""
    with opened(dsn) as connection:
        fill(connection, QUEUE, messages)
        settle(connection)
    begin, end = listener.drained(dsn, messages, 1, True)
    return messages / (end - begin)


def pairs(dsn: str, port: int, streams: int, messages: int, number: int) -> None:
    """Measure and print what open streams leave of the throughput, pair by pair."""
    path = live_path(get(port, "/")[1])
    rates: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(number):
        for open_streams in (False, True) if turn % 2 == 0 else (True, False):
            with ExitStack() as stack:
                if open_streams:
                    stack.enter_context(watched(port, path, streams))
                rates[open_streams].append(rate(dsn, messages))
    shares = [live / bare for bare, live in zip(rates[False], rates[True], strict=True)]
    print(f"without streams {median(rates[False]):9,.0f}/s")
    print(
        f"{streams} streams {median(rates[True]):9,.0f}/s   {median(shares):.3f} of without"
        f" ({min(shares):.3f} to {max(shares):.3f})"
    )


def main() -> None:
    """Build, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--messages", type=int, default=10_000_000, help="in all queues")
    parser.add_argument("--queues", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--drained", type=int, default=200_000, help="by the worker in each run")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--looks", type=int, default=5, help="at each page")
    options = parser.parse_args()
    with ExitStack() as stack:
        place = Place(options.dsn) if options.dsn else stack.enter_context(Place.own())
        dsn = make_conninfo(stack.enter_context(place.database()))
        with opened(dsn) as connection:
            build(connection, options.queues, options.messages)
        port = stack.enter_context(console(dsn))
        wait(port)
        pages(port, options.looks)
        pairs(dsn, port, options.streams, options.drained, options.pairs)


if __name__ == "__main__":
    main()
