"""A call of a SQL function: one statement, its arguments, and the conversion of its rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, TypeVar

import psycopg

from ..errors import BadArgument
from .levels import Destination
from .message import COLUMNS, Message, as_messages
from .moments import lenient

T = TypeVar("T")
U = TypeVar("U")
Row = tuple[Any, ...]
Rows = list[dict[str, Any]]
AnyCursor = psycopg.Cursor[Any] | psycopg.AsyncCursor[Any]
Seconds = float | timedelta


@dataclass(frozen=True)
class Call(Generic[T]):
    """One statement with its arguments and the function that turns its rows into the result."""

    sql: str
    arguments: tuple[Any, ...]
    decode: Callable[[list[Any]], T]
    #: Tells the cursor how to send the arguments and fetch the rows, if psycopg's own way does not do. It may also run
    #: statements that return nothing; for an asynchronous cursor it then returns what is to be awaited.
    setup: Callable[[AnyCursor], Awaitable[None] | None] | None = None

    def then(self, function: Callable[[T], U]) -> Call[U]:
        """Return the same call, with ``function`` applied to its result."""
        return Call(self.sql, self.arguments, lambda rows: function(self.decode(rows)), self.setup)


def invoke(
    function: str, required: Mapping[str, tuple[str, Any]], optional: Mapping[str, tuple[str, Any]]
) -> tuple[str, Row]:
    """Return ``howdah.function(name => %s::type, …)`` and its arguments. Optional ones that are None are left out."""
    given = [*required.items(), *((name, pair) for name, pair in optional.items() if pair[1] is not None)]
    placeholders = ", ".join(f'"{name}" => %s::{sql_type}' for name, (sql_type, _) in given)
    values = tuple(str(value) if isinstance(value, Destination) else value for _, (_, value) in given)
    return f"howdah.{function}({placeholders})", values


def single(rows: Sequence[Row]) -> Any:
    """Return the one value of the one row."""
    return rows[0][0]


def nothing(rows: Sequence[Row]) -> None:
    """For functions without a result."""
    return


def messages_of(invocation: str, arguments: tuple[Any, ...]) -> Call[list[Message]]:
    """Return a call of a function that returns rows of ``howdah.message``."""
    return Call(f"select {COLUMNS} from {invocation}", arguments, _as_they_are, as_messages)


def _as_they_are(rows: list[Message]) -> list[Message]:
    return rows


def table(function: str, columns: str, /, **arguments: tuple[str, Any]) -> Call[Rows]:
    """Call a set-returning procedure for rows as dictionaries. Arguments are (SQL type, value); None: the default.

    A time that Python lacks, before the year 1 or after 9999, is text.
    """
    invocation, values = invoke(function, {}, arguments)
    names = [name.strip().strip('"') for name in columns.split(",")]
    return Call(
        f"select {columns} from {invocation}",
        values,
        lambda rows: [dict(zip(names, row, strict=True)) for row in rows],
        lenient,
    )


def scalar(function: str, /, **arguments: tuple[str, Any]) -> Call[Any]:
    """Call a procedure for its single value. Arguments as for ``table``."""
    invocation, values = invoke(function, {}, arguments)
    return Call(f"select {invocation}", values, single)


def interval(name: str, value: Seconds | None) -> timedelta | None:
    """Return a duration given in seconds or as a timedelta. Raises BadArgument."""
    if value is None or isinstance(value, timedelta):
        return value
    try:
        return timedelta(seconds=value)
    except (OverflowError, TypeError, ValueError) as error:
        raise BadArgument(f"{name} must be a number of seconds, not {value!r}") from error
