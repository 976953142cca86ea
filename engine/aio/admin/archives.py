"""The archive as the database knows it: its identity, its finished runs, and messages restored from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from ...calls import Call, scalar, table
from ...calls.archives import RUN_COLUMNS, ArchiveIdentity, ArchiveRun
from ...calls.bodies import to_json
from ..verbs import AsyncVerbs


class AsyncArchives(AsyncVerbs):
    """The verbs of archiving over anything that runs a call."""

    async def identity(self) -> ArchiveIdentity:
        """Return the engine, the cluster and the current archive."""
        rows = await self._run(table("archive_identity", "engine, system_identifier, archive_id"))
        return ArchiveIdentity(**rows[0])

    async def runs(self) -> list[ArchiveRun]:
        """Return the finished runs of every archive, each archive's in order, the current one's last."""
        return [ArchiveRun(**row) for row in await self._run(table("list_archive_runs", RUN_COLUMNS))]

    async def begin(self, lock_epoch: int, *, anew: bool = False) -> UUID:
        """Return the archive to write to. ``anew`` starts another one."""
        begun: Call[UUID] = scalar("begin_archive", lock_epoch=("bigint", lock_epoch), anew=("boolean", anew or None))
        return await self._run(begun)

    async def finish(
        self,
        lock_epoch: int,
        archive: UUID,
        run: int,
        snapshot: str,
        facts: Mapping[str, Any],
        messages: Sequence[tuple[int, int, int | None, int]],
    ) -> None:
        """Record a run as finished. Raises LockLost and BadArgument if another archiver took over.

        messages: the dead messages that it wrote, as number, destination, origin and stage.
        """
        arguments: dict[str, tuple[str, Any]] = {
            "lock_epoch": ("bigint", lock_epoch),
            "archive": ("uuid", archive),
            "run": ("integer", run),
            "snapshot": ("text", snapshot),
            "facts": ("jsonb", to_json(facts)),
        }
        types = {
            "message_ids": "bigint[]",
            "destination_ids": "integer[]",
            "origin_ids": "integer[]",
            "stages": "integer[]",
        }
        for (name, kind), values in zip(types.items(), zip(*messages, strict=True), strict=False):
            arguments[name] = (kind, list(values))
        await self._run(scalar("finish_archive_run", **arguments))

    async def check(self, archive: UUID, run: int, damage: str | None) -> None:
        """Record what the verification of a run found; None: no damage."""
        arguments: dict[str, tuple[str, Any]] = {
            "archive": ("uuid", archive),
            "run": ("integer", run),
            "damage": ("text", damage),
        }
        await self._run(scalar("check_archive_run", **arguments))

    async def restore(
        self,
        queue: str,
        archive: UUID,
        run: int,
        message_id: int,
        body: bytes,
        is_text: bool,
        properties: Mapping[str, Any],
        *,
        again: bool = False,
    ) -> int:
        """Send an archived message again in the caller's name. Returns its new number."""
        arguments: dict[str, tuple[str, Any]] = {
            "queue": ("text", queue),
            "archive": ("uuid", archive),
            "run": ("integer", run),
            "message_id": ("bigint", message_id),
            "body": ("bytea", body),
            "is_text": ("boolean", is_text),
            "properties": ("jsonb", to_json(properties)),
            "again": ("boolean", again or None),
        }
        return await self._run(scalar("restore_message", **arguments).then(int))
