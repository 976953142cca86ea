"""Administered objects: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ...calls import Call, Rows, scalar, table
from ...calls.admin_options import ObjectAttributes
from ...calls.bodies import to_json
from ...calls.objects import COLUMNS
from ..verbs import AsyncVerbs


class AsyncObjects(AsyncVerbs):
    """The verbs of administered objects over anything that runs a call, each in its own transaction."""

    async def create(
        self,
        name: str,
        kind: str = "connection_factory",
        *,
        read_only: bool = False,
        **attributes: Unpack[ObjectAttributes],
    ) -> None:
        """Create an object for clients to look up. Raises QueueExists, BadName, BadOption, BadArgument."""
        await self._run(
            scalar(
                "create_object",
                name=("text", name),
                kind=("text", kind),
                attributes=("jsonb", to_json(attributes)),
                read_only=("boolean", read_only),
            )
        )

    async def alter(self, name: str, *, read_only: bool | None = None, **attributes: Unpack[ObjectAttributes]) -> None:
        """Set attributes; None takes one away. Raises NameNotFound, ReadOnlyObject, BadOption."""
        await self._run(
            scalar(
                "alter_object",
                name=("text", name),
                attributes=("jsonb", to_json(attributes)),
                read_only=("boolean", read_only),
            )
        )

    async def drop(self, name: str) -> bool:
        """Drop an object. Returns whether there was one."""
        return await self._run(scalar("drop_object", name=("text", name)).then(bool))

    async def list(self, pattern: str | None = None) -> Rows:
        """Return the objects, or those whose names match a pattern such as ``cf/*``."""
        return await self._run(table("list_objects", COLUMNS, pattern=("text", pattern)))

    async def export_document(self) -> Rows:
        """Return all objects as a document for a repository."""
        call: Call[Rows] = scalar("export_objects")
        return await self._run(call)

    async def import_document(self, objects: Sequence[Mapping[str, Any]], *, replace: bool = False) -> int:
        """Create the objects of a document, all or none; with ``replace`` change others. Returns how many."""
        return await self._run(
            scalar("import_objects", objects=("jsonb", to_json([*objects])), replace=("boolean", replace)).then(int)
        )
