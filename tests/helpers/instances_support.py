"""Instances: registered, kept alive, brought up, listed and reading changes."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb
from support import Db, column, one

TIMEOUT = 10
"""Seconds of silence after which an instance is dead."""


def register(db: Db, name: str, **settings: object) -> str:
    return str(one(db, "select howdah.register_instance(%s, 'host', 1, '0.1', %s)", (name, Jsonb(settings))))


def beat(db: Db, instance: str) -> dict[str, Any]:
    found: dict[str, Any] = one(db, "select howdah.instance_heartbeat(%s)", (instance,))
    return found


def running(db: Db, name: str) -> str:
    """An instance that has come up."""
    instance = register(db, name)
    states = [beat(db, instance)["state"] for _ in range(2)]
    assert states == ["RECOVERING", "RUNNING"]
    return instance


def listed(db: Db, what: str = "name") -> list[Any]:
    return column(db, f"select {what} from howdah.list_instances()")


def read(db: Db, instance: str, most: int = 1000) -> list[str]:
    return column(db, "select act || ' ' || name from howdah.read_changes(%s, %s)", (instance, most))
