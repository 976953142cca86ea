"""Named locks, which are leases with a fencing epoch: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from typing import Any

from ...calls import Call, scalar
from ..verbs import AsyncVerbs


class AsyncLocks(AsyncVerbs):
    """The verbs of locks over anything that runs a call."""

    async def acquire_lock(self, name: str, holder: str, seconds: float = 30) -> int | None:
        """Take or renew a lease. Returns its fencing epoch, or None if another holder has it."""
        arguments: dict[str, tuple[str, Any]] = {
            "name": ("text", name),
            "holder": ("text", holder),
            "seconds": ("numeric", seconds),
        }
        epoch: Call[int | None] = scalar("acquire_lock", **arguments)
        return await self._run(epoch)

    async def release_lock(self, name: str, epoch: int, holder: str) -> None:
        """Release a lease. Raises LockLost if the caller no longer holds it."""
        await self._run(scalar("release_lock", name=("text", name), epoch=("bigint", epoch), holder=("text", holder)))

    async def break_lock(self, name: str) -> dict[str, Any] | None:
        """Take a lease from its holder, whose later work is refused. Returns who it was; None: nobody held it."""
        broken: Call[dict[str, Any] | None] = scalar("break_lock", name=("text", name))
        return await self._run(broken)
