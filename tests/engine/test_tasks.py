"""Tests of what asyncio's sessions need of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from howdah.engine.aio.monitor import AsyncMonitor
from howdah.engine.aio.tasks import AsyncFlag
from howdah.engine.calls.receiving import Looked


async def ends_when_cancelled(task: asyncio.Task[None], set_: Callable[[], None], steps: int) -> None:
    """Cancel a task that waits forever, so many steps of the loop after what it waits for came once."""
    await asyncio.sleep(0.01)
    set_()
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=5)
    assert done, "the cancellation was lost"
    assert task.cancelled()


@pytest.mark.parametrize("steps", range(6))
def test_a_task_that_is_cancelled_as_its_flag_is_set_ends(steps: int) -> None:
    async def main() -> None:
        flag = AsyncFlag()

        async def run() -> None:
            while True:
                await flag.wait(1000)
                flag.clear()

        await ends_when_cancelled(asyncio.create_task(run()), flag.set, steps)

    asyncio.run(main())


@pytest.mark.parametrize("steps", range(6))
def test_a_monitor_that_is_closed_as_it_is_nudged_ends(dsn: str, steps: int) -> None:
    async def main() -> None:
        monitor = AsyncMonitor(dsn, never)
        monitor._tending = asyncio.create_task(monitor._tend())
        await ends_when_cancelled(monitor._tending, monitor._nudged.set, steps)
        monitor._tending = None
        await monitor.close()

    asyncio.run(main())


async def never(since: Mapping[str, int | None]) -> dict[str, Looked]:
    """Answer no question; nobody waits, so none is asked."""
    raise AssertionError(since)
