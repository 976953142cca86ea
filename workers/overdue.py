"""Processes that cannot end themselves: a handler holds the interpreter, so that no other thread of them runs."""

from __future__ import annotations

import subprocess
import time

from .deaths import EXIT_TIME_LIMIT
from .in_hand import Hands

MARGIN_SECONDS = 1.0
"""Seconds between the latest moment for a process to end itself and its kill."""


def poll(process: subprocess.Popen[bytes], hands: Hands, grace: float) -> int | None:
    """Return the exit code of a process, or None while it lives.

    Kills it if a handler is over its time limit and the process should have ended because of that. Then only messages
    of such handlers are to blame, and the code is that of a process which has ended itself.

    grace: seconds that a handler may go on after its limit, and that other sessions have then.
    """
    code = process.poll()
    latest = time.monotonic() - 2 * grace - MARGIN_SECONDS
    if code is None:
        if hands.overdue(latest):
            hands.doom()
            process.kill()
        return None
    if hands.doomed and code < 0:
        hands.accuse(hands.overdue(latest))  # read again: only now does nothing change any more
        return EXIT_TIME_LIMIT
    return code
