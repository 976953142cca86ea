"""Handlers that are ``async def``: each call runs to its end in the event loop of the session's thread.

The first call makes the loop, and later calls of the thread use it: an application may keep clients bound to it.
Nothing else of the session runs meanwhile: the message's transaction is open, and is committed only after the call.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial, wraps
from typing import Any

from ..engine import HowdahError, Message
from ..engine.handling.functions import check_ran, kind_of
from .guard import HandlerConnection


class TasksLeft(HowdahError):
    """An async handler returned while tasks that it had started were running; they were cancelled."""


class _Loop(threading.local):
    """The event loop of each thread."""

    runner: asyncio.Runner | None = None


_loop = _Loop()


def runnable(function: Callable[..., Any]) -> Callable[[Message, Any], Any]:
    """Return the handler as a plain function, which returns once it has run. Raises TypeError if it cannot be run."""
    if not callable(function):
        raise TypeError(f"{function!r} is not callable")
    _check_arguments(function)
    kind = kind_of(function)
    if kind in ("generator", "async generator"):
        raise TypeError(
            f"{_name(function)} is a{'n' * kind.startswith('a')} {kind} function: a call of it runs nothing"
        )
    if kind == "coroutine":

        @wraps(function)
        def handle(message: Message, transaction: Any) -> Any:
            result = _run(function(message, transaction), transaction.connection)
            check_ran(result)
            return result

    else:

        @wraps(function)
        def handle(message: Message, transaction: Any) -> Any:
            result = function(message, transaction)
            if result is not None:
                check_ran(result)
            return result

    return handle


def close_loop() -> None:
    """End the event loop of this thread, if it has one."""
    runner, _loop.runner = _loop.runner, None
    if runner is not None:
        runner.close()


def _run(coroutine: Coroutine[Any, Any, Any], connection: HandlerConnection) -> Any:
    """Run it in this thread's loop, or in another thread's if one is running here, as in an async test."""
    context = copy_context()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if _loop.runner is None:
            _loop.runner = asyncio.Runner()
        try:
            return _loop.runner.run(_alone(coroutine, connection), context=context)
        finally:
            if asyncio.all_tasks(
                _loop.runner.get_loop()
            ):  # the handler stopped the loop, and would be met by the next one
                close_loop()
    with ThreadPoolExecutor(1, "howdah-handler") as threads:
        return threads.submit(context.run, asyncio.run, _alone(coroutine, connection)).result()


async def _alone(coroutine: Coroutine[Any, Any, Any], connection: HandlerConnection) -> Any:
    """Await the call. Raises TasksLeft if its tasks outlive it: they would run on in a later message's transaction."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    connection.interrupt = partial(loop.call_soon_threadsafe, task.cancel)
    try:
        result = await coroutine
    finally:
        connection.interrupt = None
        left = asyncio.all_tasks() - {task}
        for other in left:
            other.cancel()
        await asyncio.gather(*left, return_exceptions=True)
    if left:
        names = ", ".join(sorted(other.get_name() for other in left))
        raise TasksLeft(
            f"the handler returned while tasks that it had started were running: {names}",
            "Await them, or start them in an asyncio.TaskGroup.",
        )
    return result


def _check_arguments(function: Callable[..., Any]) -> None:
    """Raises TypeError if it does not take a message and a transaction. What a decorator wraps may take others."""
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except Exception:  # noqa: BLE001 - C code may tell none, and its annotations may name what is not imported
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise TypeError(f"{_name(function)} does not take a message and a transaction: {error}") from None


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))
