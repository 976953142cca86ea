"""A picture in the terminal that is drawn anew every few seconds, until a key ends it."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, TypeVar

from . import output, times

T = TypeVar("T")

Every = Annotated[float, times.length("--every", positive=True, help="Time from picture to picture.")]

SHORTEST_SECONDS = 0.1

QUIT = "q"
PAUSE = "p"


def keys(paused: bool) -> str:
    """Return the line that says what the keys do."""
    return f"{QUIT} quits, {PAUSE} goes on: paused" if paused else f"{QUIT} quits, {PAUSE} pauses"


def is_possible() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def watch(look: Callable[[], T], page: Callable[[T, int, int, bool], str], seconds: float) -> None:
    """Show ``page(what was seen, width, height, paused)`` in the whole terminal, and look again, until q is pressed."""
    from rich.live import Live
    from rich.text import Text

    console = output.console()
    paused = False
    seen = look()
    with _keys() as wait, Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            text = page(seen, console.width, console.height, paused)
            live.update(Text(text, no_wrap=True, overflow="crop"), refresh=True)
            key = wait(None if paused else max(seconds, SHORTEST_SECONDS))
            if key == QUIT:
                return
            if key == PAUSE:
                paused = not paused
            if not paused:
                seen = look()


@contextmanager
def _keys() -> Iterator[Callable[[float | None], str]]:
    """Take single keys from stdin. Yields a function that waits so many seconds for one; an empty text means none."""
    if not sys.stdin.isatty():
        yield _sleep
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    try:
        yield lambda seconds: _key(terminal, seconds)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _sleep(seconds: float | None) -> str:
    time.sleep(seconds or 0)
    return ""


def _key(terminal: int, seconds: float | None) -> str:
    ready, _, _ = select.select([terminal], [], [], seconds)
    if not ready:
        return ""
    pressed = os.read(terminal, 1)
    return pressed.decode("ascii", "replace").lower() if pressed else QUIT  # the terminal is gone
