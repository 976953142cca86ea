"""Readers of the journal's stream, which are stopped at the end."""

from collections.abc import Callable, Iterator
from typing import Any

from .journal_reader import Reader

Stream = Callable[..., Reader]


def open_streams(dsn: str) -> Iterator[Stream]:
    """Opens readers of a database, with options."""
    readers = []

    def open_one(**more: Any) -> Reader:
        readers.append(Reader(dsn, **more))
        return readers[-1]

    yield open_one
    for reader in readers:
        reader.reader.stop()
