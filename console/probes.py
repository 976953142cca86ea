"""What containers and load balancers ask: does the console's database live, and does it serve messages?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ..telemetry.health import FAILED, Health, health

#: Seconds for which a finding answers further probes. Probes need no log-in, so they must not make it connect at will.
KEPT_SECONDS = 1.0


def probe(dsn: str, role: str | None, *, ready: bool) -> Callable[[Request], Response]:
    """An endpoint that needs no log-in: it names the checks that failed and no more."""
    lock = threading.Lock()
    kept: list[tuple[float, Health]] = []

    def look() -> Health:
        with lock:
            if not kept or time.monotonic() - kept[0][0] > KEPT_SECONDS:
                found = health(dsn, role=role)
                kept[:] = [(time.monotonic(), found)]
            return kept[0][1]

    def endpoint(request: Request) -> Response:
        found = look()
        if found.ready if ready else found.live:
            return PlainTextResponse("ok\n")
        failed = ", ".join(check.name for check in found.checks if check.state == FAILED)
        return PlainTextResponse(f"failed: {failed}\n", 503)

    return endpoint
