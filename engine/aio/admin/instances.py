"""Instances and their cluster: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from ...calls import Call, Rows, scalar, table
from ...calls.bodies import to_json
from ...calls.changes import INSTANCE_COLUMNS, READ_COLUMNS
from ..verbs import AsyncVerbs


class AsyncInstances(AsyncVerbs):
    """Sets of worker processes, and what all of them have in common."""

    async def list(self) -> Rows:
        """Return the live instances by name."""
        return await self._run(table("list_instances", INSTANCE_COLUMNS))

    async def quiesce(self, name: str) -> bool:
        """Let an instance receive nothing new. Returns whether it was not quiesced."""
        return await self._run(scalar("quiesce_instance", name=("text", name)).then(bool))

    async def resume(self, name: str) -> bool:
        """Let a quiesced instance receive again. Returns whether it was quiesced."""
        return await self._run(scalar("resume_instance", name=("text", name)).then(bool))

    async def end(self, name: str) -> bool:
        """Tell an instance to end once it has finished what it has in hand. Returns whether there is one."""
        return await self._run(scalar("end_instance", name=("text", name)).then(bool))

    async def register(
        self, name: str, host: str, pid: int, *, version: str | None = None, settings: Mapping[str, Any] | None = None
    ) -> UUID:
        """Register an instance. Raises InstanceRefused if its name is taken or its settings contradict the cluster's.

        ``settings``: cluster_mode, cluster_master and exclusive, as it was told; what is left out is the cluster's.
        """
        arguments: dict[str, tuple[str, Any]] = {
            "name": ("text", name),
            "host": ("text", host),
            "pid": ("integer", pid),
            "version": ("text", version),
            "settings": ("jsonb", to_json(dict(settings or {}))),
        }
        return await self._run(scalar("register_instance", **arguments).then(_identity))

    async def heartbeat(self, instance_id: UUID) -> dict[str, Any]:
        """Report that an instance lives, and lead it on. Raises UnknownWorker if it was taken for dead."""
        told: Call[dict[str, Any]] = scalar("instance_heartbeat", instance_id=("uuid", instance_id))
        return await self._run(told)

    async def unregister(self, instance_id: UUID) -> bool:
        """End an instance that has stopped. Returns whether it was registered."""
        return await self._run(scalar("unregister_instance", instance_id=("uuid", instance_id)).then(bool))

    async def read_changes(self, instance_id: UUID, max_changes: int = 1000) -> Rows:
        """Return the changes that an instance has not read, in the order of commits."""
        return await self._run(
            table(
                "read_changes",
                READ_COLUMNS,
                instance_id=("uuid", instance_id),
                max_changes=("integer", max_changes),
            )
        )

    async def cluster(self) -> dict[str, Any]:
        """Return the settings that all instances have in common."""
        settings: Call[dict[str, Any]] = scalar("cluster_settings")
        return await self._run(settings)

    async def set_cluster(self, mode: str, master: str | None = None) -> bool:
        """Say who may change the configuration: mode "none", or "master" and a name. Returns whether that is new."""
        return await self._run(scalar("set_cluster", mode=("text", mode), master=("text", master)).then(bool))

    async def change_master(self, name: str) -> bool:
        """Make another instance the master of changes. Returns whether that is new."""
        return await self._run(scalar("change_master", name=("text", name)).then(bool))


def _identity(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(str(value))
