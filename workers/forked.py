"""Processes that a handler forks: a copy of the session leaves the handler there, and must not go on."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

from . import events


class Forks:
    """Tells a process that was forked from the one that it copies."""

    # os.getpid would be a call of the system for each message, a tenth of what calling a handler takes.
    def __init__(self) -> None:
        #: How often this process and those that it was forked from were forked.
        self.count = 0

    def add(self) -> None:
        """Count a fork, in the new process."""
        self.count += 1


forks = Forks()
os.register_at_fork(after_in_child=forks.add)


def end_forked(worker: str, error: BaseException | None) -> NoReturn:
    """End this process like a program, except for what the copies of its parent's objects would do at their end.

    error: what its handler raised; None if it returned.
    """
    code = 0 if error is None else 1
    if isinstance(error, SystemExit) and (error.code is None or isinstance(error.code, int)):
        code = (error.code or 0) & 0xFF
    elif error is not None:
        events.forked_failed(worker, error)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)
