"""Whether anybody listens. OpenTelemetry is asked only once the application itself has imported it.

So a program without it pays one lookup for each operation, whether the library is installed or not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .traces import Traces

_LIBRARY = "opentelemetry.trace"


class _Switch:
    """What the process uses."""

    traces: Traces | None = None
    #: Whether the application has decided.
    decided = False


def current() -> Traces | None:
    """What spans and metrics go to. None: there is no provider, or the application wants none."""
    if _Switch.traces is None and not _Switch.decided and _LIBRARY in sys.modules:
        from .traces import found

        _Switch.traces = found()
    return _Switch.traces


def use(traces: Traces | None) -> None:
    """Decide for the process: use these in place of the application's global providers. None: trace nothing."""
    _Switch.traces, _Switch.decided = traces, True


def forget() -> None:
    """Take a decision back: the global providers hold again, once they are set."""
    _Switch.traces, _Switch.decided = None, False
