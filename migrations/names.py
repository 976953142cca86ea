"""What an application's own Alembic leaves alone: hooks for ``context.configure`` in its env.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..schema import SCHEMA


def include_name(name: str | None, type_: str, parent_names: Mapping[Any, Any]) -> bool:
    """Leave Howdah's schema out of ``--autogenerate`` with ``include_schemas``: its tables are not even read."""
    return name != SCHEMA if type_ == "schema" else parent_names.get("schema_name") != SCHEMA


def include_object(item: Any, name: str | None, type_: str, reflected: bool, compare_to: Any) -> bool:
    """Leave out what belongs to Howdah's schema, also where the application's metadata has reflected it."""
    table = item if hasattr(item, "schema") else getattr(item, "table", None)
    return getattr(table, "schema", None) != SCHEMA
