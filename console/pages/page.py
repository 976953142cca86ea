"""What every page is given, and how it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from starlette.requests import Request

from ...engine.errors import BadArgument
from ..database import Work
from ..times import moment, whole

Columns = tuple[tuple[str, str], ...]
Link = Callable[..., str]


@dataclass(frozen=True)
class Shown:
    """A template with its values."""

    template: str
    values: Mapping[str, Any]


Page = Callable[[Request, Work], Shown]


def number(request: Request, name: str, below: int = 2**63) -> int | None:
    """A number of the URL. None: there is none, or it is not one that PostgreSQL knows."""
    found = whole(request.query_params.get(name, ""))
    return found if found is not None and abs(found) < below else None


def time_of(request: Request, name: str) -> datetime | None:
    """A time of the URL with its zone. None: there is none, or it is not one."""
    with suppress(BadArgument):
        return moment(request.query_params.get(name))
    return None


def uuid_of(request: Request, name: str) -> UUID | None:
    """An identifier of the URL. None: there is none, or it is not one."""
    with suppress(ValueError):
        return UUID(request.query_params.get(name, ""))
    return None


def text(request: Request, name: str) -> str | None:
    """A text of the URL; None if it is empty. PostgreSQL has no character 0."""
    return request.query_params.get(name, "").replace("\0", "").strip() or None
