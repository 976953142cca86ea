"""The calls of administered objects, and how attributes are written as text."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from .bodies import to_json
from .call import Call, Row, invoke

COLUMNS = "name, kind, attributes, read_only, created_at, created_by, changed_at"

ENVIRONMENT = "HOWDAH_OBJECT_"
"""The prefix of the variables that override attributes of factories at the start of a client."""

LISTS = frozenset({"hosts", "members"})
TEXTS = frozenset(
    {
        "description",
        "dbname",
        "user",
        "role",
        "service",
        "sslmode",
        "connection_service",
        "client_id",
        "delivery_mode",
        "persistent_mapping",
        "nonpersistent_mapping",
        "confirm_sends",
        "destination",
    }
)


@dataclass(frozen=True)
class FoundObject:
    """An object of the naming service, with the attributes that hold for this client."""

    name: str
    kind: str
    attributes: dict[str, Any]
    read_only: bool
    #: The overrides among them, which the object itself lacks.
    overrides: dict[str, Any] = field(default_factory=dict)


class Naming(Protocol):
    """What makes a factory or a destination of an object that was found."""

    @staticmethod
    def administered(base: str, found: FoundObject) -> Any:
        """Make it. base: the DSN by which it was found."""


def lookup(name: str, overrides: Mapping[str, Any] | None = None) -> Call[FoundObject]:
    """Find an object. Raises NameNotFound, and BadOption for overrides that cannot be."""
    invocation, arguments = invoke(
        "lookup", {"name": ("text", name)}, {"overrides": ("jsonb", to_json(dict(overrides)) if overrides else None)}
    )
    return Call(
        f"select object, kind, attributes, read_only from {invocation}",
        arguments,
        lambda rows: _found(rows[0], dict(overrides or {})),
    )


def _found(row: Row, overrides: dict[str, Any]) -> FoundObject:
    name, kind, attributes, read_only = row
    return FoundObject(name, kind, attributes, read_only, {} if read_only else overrides)


def parsed(texts: Mapping[str, str]) -> dict[str, Any]:
    """Attributes from texts: lists have commas, numbers and truth values are JSON, an empty text takes one away."""
    found: dict[str, Any] = {}
    for name, text in texts.items():
        if text == "":
            found[name] = None
        elif name in TEXTS:
            found[name] = text
        elif name in LISTS and not text.startswith("["):
            found[name] = [word.strip() for word in text.split(",")]
        else:
            try:
                found[name] = json.loads(text)
            except ValueError:
                found[name] = text
    return found


def overriding(found: FoundObject, overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    """What overrides an object's attributes: what is given and, for a factory, the environment. Empty: nothing."""
    if found.read_only:
        return {}
    return {**(from_environment() if found.kind == "connection_factory" else {}), **(overrides or {})}


def from_environment() -> dict[str, Any]:
    """Overrides of factories from HOWDAH_OBJECT_… such as HOWDAH_OBJECT_HOSTS=db2,db3."""
    return parsed(
        {
            name.removeprefix(ENVIRONMENT).lower(): value
            for name, value in os.environ.items()
            if name.startswith(ENVIRONMENT)
        }
    )
