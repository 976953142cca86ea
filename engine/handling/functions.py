"""What kind of function an application hands over, and whether a call of it has run it."""

from __future__ import annotations

import concurrent.futures
import inspect
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from ..errors import BadArgument, HowdahError

Kind = Literal["plain", "coroutine", "generator", "async generator"]


class NotRun(HowdahError):
    """A function returned an awaitable, a future or a generator: a call that nobody has run."""


def kind_of(function: Callable[..., Any]) -> Kind:
    """How a call of the function runs. One that only returns an awaitable is plain: see ``check_ran``."""
    while isinstance(function, partial):
        function = function.func
    if not (inspect.isfunction(function) or inspect.ismethod(function) or isinstance(function, type)):
        function = type(function).__call__ if callable(function) else function
    if inspect.isasyncgenfunction(function):
        return "async generator"
    if inspect.isgeneratorfunction(function):
        return "generator"
    return "coroutine" if inspect.iscoroutinefunction(function) else "plain"


def check_listener(function: Callable[..., Any]) -> None:
    """Raises BadArgument if a call of the listener would run nothing."""
    if (kind := kind_of(function)) != "plain":
        raise BadArgument(
            f"a listener cannot be a{'n' * kind.startswith('a')} {kind} function: a call of it runs nothing",
            "Async code receives with howdah.engine.aio, or by an async def handler of a worker.",
        )


def check_async_listener(function: Callable[..., Any]) -> None:
    """Raises BadArgument if a call of an asynchronous session's listener could not be awaited."""
    if (kind := kind_of(function)) != "coroutine":
        raise BadArgument(
            f"a listener of an asynchronous session cannot be a{'n' * kind.startswith('a')} {kind} function",
            "Declare it async def.",
        )


def check_ran(result: Any) -> None:
    """Raises NotRun if what a plain function returned still waits to be run; it is closed then."""
    if result is None:
        return
    if isinstance(result, list | tuple | set | frozenset | deque | Mapping):
        for one in result.values() if isinstance(result, Mapping) else result:
            check_ran(one)
        return
    if inspect.isawaitable(result):
        what, hint = "an awaitable", "Declare it async def, or await there what it returns."
    elif isinstance(result, concurrent.futures.Future):
        what, hint = "a future", "Wait there for its result()."
    elif inspect.isgenerator(result) or inspect.isasyncgen(result) or _is_lazy(result):
        what, hint = "a generator", "Run it in the function, with a for loop."
    else:
        return
    if inspect.iscoroutine(result) or inspect.isgenerator(result):
        result.close()
    elif callable(cancel := getattr(result, "cancel", None)):
        cancel()
    raise NotRun(f"the function returned {what} ({type(result).__name__}), which was not run", hint)


def _is_lazy(result: Any) -> bool:
    """Whether an iterator calls functions only while it is read. Not every one does: a cursor has been executed."""
    return isinstance(result, map | filter | zip | enumerate) or type(result).__module__ == "itertools"
