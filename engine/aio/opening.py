"""Opens on a thread what has no asynchronous form, so that the event loop does not wait."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

from ..connection import Connection
from ..jms.session import AckSession

C = TypeVar("C", Connection, AckSession)


async def opened_on_thread(make: Callable[[], C]) -> C:
    """Open something on a thread. If it is cancelled, it closes what the thread opens: nobody else knows of that."""
    # A future, not a task: a caller that cancels all tasks must not cancel it.
    opening = asyncio.get_running_loop().run_in_executor(None, contextvars.copy_context().run, make)
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_unseen)
        raise


def _close_unseen(opening: asyncio.Future[C]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        threading.Thread(target=opening.result().close, name="howdah-aio-closing", daemon=True).start()
