"""What a client's pool is like, by its arguments or its service, and what each of its sessions begins with."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from ..calls import Call
from ..calls.services import Service, connect_service
from ..errors import BadArgument
from .loans import PgConnection
from .runner import run, run_async

MIN_SIZE, MAX_SIZE, IDLE_SECONDS = 0, 10, 600
"""The defaults, where neither arguments nor a service say otherwise."""


@dataclass(frozen=True)
class Sizes:
    """Connections that a pool keeps and has at most, and the seconds after which it closes an idle one."""

    min_size: int
    max_size: int
    max_idle: float

    @classmethod
    def of(cls, min_size: int | None, max_size: int | None, service: Service | None = None) -> Sizes:
        """Take the arguments, else the service's sizes. Raises BadArgument for a pool that could not grow."""
        usual = (MIN_SIZE, MAX_SIZE, IDLE_SECONDS)
        if service is not None:
            usual = (service.min_connections, service.max_connections, service.idle_seconds)
        low = usual[0] if min_size is None else min_size
        high = usual[1] if max_size is None else max_size
        if min_size is None and service is not None:
            low = min(low, high - 1)  # the service's minimum does not forbid a smaller pool
        if low < 0 or high <= low:
            raise BadArgument(
                f"max_size {high} is not above min_size {low}, or min_size is negative",
                "max_size is at least 1, and min_size 0 (the default) or more.",
            )
        return cls(low, high, usual[2])


class Beginning:
    """What each database session of a pool begins with: a role, a client id, a service."""

    def __init__(self, role: str | None = None, client_id: str | None = None, service: str | None = None) -> None:
        settings = {"role": role, "howdah.client_id": client_id}
        self._calls: list[Call[None]] = [_set(name, value) for name, value in settings.items() if value is not None]
        self._service = service

    def begin(self, connection: PgConnection) -> Service | None:
        """Begin a session; the service that it belongs to. Raises ServiceUnavailable, NotAllowed."""
        for call in self._calls:
            run(connection, call)
        service = None if self._service is None else run(connection, connect_service(self._service))
        connection.commit()
        return service

    async def begin_async(self, connection: psycopg.AsyncConnection[object]) -> Service | None:
        """As ``begin``."""
        for call in self._calls:
            await run_async(connection, call)
        service: Service | None = None
        if self._service is not None:
            service = await run_async(connection, connect_service(self._service))
        await connection.commit()
        return service

    def configure(self, connection: PgConnection) -> None:
        """``begin``, for a pool."""
        self.begin(connection)

    async def configure_async(self, connection: psycopg.AsyncConnection[object]) -> None:
        """``begin``, for a pool."""
        await self.begin_async(connection)


def _set(name: str, value: str) -> Call[None]:
    return Call("select set_config(%s, %s, false)", (name, value), lambda rows: None)
