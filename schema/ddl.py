"""The tables as SQL: what ``metadata.create_all`` would run, as the baseline migration has it."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from sqlalchemy import ExecutableDDLElement, create_mock_engine

from . import metadata

_INDEX = re.compile(r"CREATE (UNIQUE )?INDEX ")
_HEADING = re.compile(r"CREATE (UNLOGGED )?(TABLE|TYPE)|DO ")


def ddl() -> str:
    """The statements that create all that the metadata declares, in the order of the declarations."""
    statements: list[str] = []

    def keep(statement: ExecutableDDLElement, *arguments: Any, **options: Any) -> None:
        statements.append(_tidy(str(statement.compile(dialect=mock.dialect))))

    # Parameters are named: with others, SQLAlchemy doubles each % of a text.
    mock = create_mock_engine("postgresql://", keep, paramstyle="named")
    metadata.create_all(mock, checkfirst=False)
    return "".join(
        f"\n{statement};\n" if _HEADING.match(statement) else f"{statement};\n" for statement in _ordered(statements)
    )


def _tidy(statement: str) -> str:
    """Return a statement without SQLAlchemy's tabs, blank lines and spaces at the end of lines."""
    lines = [line.rstrip().replace("\t", "    ") for line in statement.split("\n")]
    return "\n".join(line for line in lines if line)


def _ordered(statements: list[str]) -> list[str]:
    """Put each table's indexes in order: SQLAlchemy keeps them as a set, and gives another order each time.

    A unique one comes first: a row that it refuses then leaves nothing in the others.
    """
    runs = groupby(statements, lambda statement: _INDEX.match(statement) is not None)
    return [statement for is_index, run in runs for statement in (sorted(run, key=_by_name) if is_index else run)]


def _by_name(statement: str) -> tuple[bool, str]:
    return (not statement.startswith("CREATE UNIQUE"), statement)
