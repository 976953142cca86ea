"""howdah top and queue stats --watch: pictures in a terminal, led by keys."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from command import howdah, refused
from support import Db, one

from howdah.cli import overview
from howdah.engine import connect

ALTERNATE = b"\x1b[?1049"
"""What switches to the terminal's other screen (h) and back (l)."""


class Screen:
    """A command in a terminal of its own: what it wrote so far, and its keyboard."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self.written = b""

    def shows(self, text: str) -> None:
        """Wait until the command has written a text, and forget what came before."""
        while text.encode() not in self.written:
            read = self._read()
            assert read, f"it ended without {text}: {self.written.decode(errors='replace')}"
            self.written += read
        self.written = self.written.partition(text.encode())[2]

    def press(self, key: str) -> None:
        os.write(self._terminal, key.encode())

    def ends(self) -> int:
        """Read what is left, and return the exit code."""
        while read := self._read():
            self.written += read
        return self.process.wait()

    def _read(self) -> bytes:
        try:
            return os.read(self._terminal, 65536)
        except OSError:  # the command has closed its side
            return b""


@contextmanager
def on_screen(dsn: str, *words: str) -> Iterator[Screen]:
    ours, theirs = pty.openpty()
    environment = os.environ | {"HOWDAH_DSN": dsn, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    command = [sys.executable, "-m", "howdah.cli.main", *words]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=environment)
    os.close(theirs)
    try:
        yield Screen(process, ours)
    finally:
        process.kill()
        process.communicate()
        os.close(ours)


@pytest.fixture
def queues(db: Db) -> Db:
    for name in ("quiet", "busy"):
        one(db, "select howdah.create_queue(%s)", (name,))
    for number in range(3):
        one(db, "select howdah.send('busy', %s::text)", (str(number),))
    return db


def test_once_prints_the_engine_and_its_queues_the_busiest_first(dsn: str, queues: Db) -> None:
    shown = howdah(dsn, "top", "--once")
    assert shown.code == 0
    assert "engine running" in shown.out
    assert "workers 0 live, 0 silent" in shown.out
    assert "messages 3 live, 0 in hand, 0 parked, 0 dead" in shown.out
    assert shown.out.index("\nbusy ") < shown.out.index("\nquiet ")


def test_without_a_terminal_there_is_nothing_live(dsn: str) -> None:
    refused(howdah(dsn, "top"), "--once", 2)
    refused(howdah(dsn, "queue", "stats", "--watch"), "terminal", 2)
    refused(howdah(dsn, "queue", "stats", "--watch", "--json", columns=100), "--json", 2)


def test_an_engine_without_queues_says_what_to_do(dsn: str) -> None:
    assert "howdah queue create" in howdah(dsn, "top", "--once").out
    assert howdah(dsn, "queue", "create", "mine").code == 0
    assert "howdah queue create" not in howdah(dsn, "top", "--once").out


def test_a_browser_may_look(dsn: str, queues: Db) -> None:
    assert howdah(dsn, "top", "--once", "--role", "howdah_browser").code == 0


@pytest.mark.slow
def test_top_shows_what_changes_pauses_goes_on_and_quits_by_keys(dsn: str, queues: Db) -> None:
    with on_screen(dsn, "top", "--every", "0.1") as screen:
        screen.shows("messages 3 live")
        one(queues, "select howdah.send('busy', 'another'::text)")
        screen.shows("messages 4 live")
        screen.press("p")
        screen.shows("paused")
        one(queues, "select howdah.send('busy', 'unseen'::text)")
        screen.press("p")
        screen.shows("messages 5 live")
        screen.press("q")
        assert screen.ends() == 0
        assert ALTERNATE + b"l" in screen.written, "the terminal is as it was"


@pytest.mark.slow
def test_queue_stats_are_watched_by_the_same_keys(dsn: str, queues: Db) -> None:
    with on_screen(dsn, "queue", "stats", "busy", "--watch", "--every", "0.1") as screen:
        screen.shows("busy")
        screen.shows("q quits, p pauses")
        screen.press("p")
        screen.shows("paused")
        screen.press("q")
        assert screen.ends() == 0


def figures(dsn: str, seconds: float) -> overview.Figures:
    with connect(dsn) as connection:
        return replace(overview.look(connection), seconds=seconds)


def test_rates_are_of_the_time_between_two_looks_and_never_below_none(dsn: str, queues: Db) -> None:
    before = figures(dsn, 100.0)
    for number in range(4):
        one(queues, "select howdah.send('busy', %s::text)", (str(number),))
    queues.execute("select from howdah.receive('busy', 2)")
    now = figures(dsn, 102.0)
    rates = {row["queue_name"]: (row["in_rate"], row["out_rate"]) for row in overview.with_rates(now, before)}
    assert {name: rates[name] for name in ("busy", "quiet")} == {"busy": (2.0, 1.0), "quiet": (0.0, 0.0)}
    backward = overview.with_rates(replace(before, seconds=104.0), now)
    assert {row["in_rate"] for row in backward} == {0.0}
    assert {row["in_rate"] for row in overview.with_rates(now, None)} == {None}


def test_queues_that_do_not_fit_are_counted(dsn: str, queues: Db) -> None:
    page = overview.page(figures(dsn, 1.0), None, 80, 8)
    assert page.endswith("and 2 more queues"), "the quiet one, and the exception destination"
    assert len(page.splitlines()) <= 8
    assert max(map(len, page.splitlines())) <= 80
