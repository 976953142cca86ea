"""What containers and load balancers ask: does the console's database live, and does it serve messages?"""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ..telemetry.health import FAILED, health


def probe(dsn: str, role: str | None, *, ready: bool) -> Callable[[Request], Response]:
    """An endpoint that needs no log-in: it names the checks that failed and no more."""

    def endpoint(request: Request) -> Response:
        found = health(dsn, role=role)
        if found.ready if ready else found.live:
            return PlainTextResponse("ok\n")
        failed = ", ".join(check.name for check in found.checks if check.state == FAILED)
        return PlainTextResponse(f"failed: {failed}\n", 503)

    return endpoint
