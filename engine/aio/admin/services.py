"""Services: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from typing import Unpack

from ...calls import Rows, scalar, table
from ...calls.admin_options import ServiceOptions
from ...calls.bodies import to_json
from ...calls.services import COLUMNS
from ..verbs import AsyncVerbs


class AsyncServices(AsyncVerbs):
    """The verbs of services over anything that runs a call, each in its own transaction."""

    async def list(self) -> Rows:
        """Return the services with their settings. Unavailable services are in the list too, with the reason."""
        return await self._run(table("list_services", COLUMNS))

    async def alter(self, service: str, **options: Unpack[ServiceOptions]) -> None:
        """Change a service, for sessions that connect from now on. Raises ServiceUnavailable, BadOption."""
        await self._run(scalar("alter_service", service=("text", service), options=("jsonb", to_json(options))))
