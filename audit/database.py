"""Connections of the audit's own."""

from __future__ import annotations

from typing import Any

import psycopg

from ..text.dsn import BadDsnError, canonical
from .errors import AuditError


def opened(dsn: str, name: str) -> psycopg.Connection[Any]:
    """A connection in autocommit mode; ``name`` is what pg_stat_activity shows. Raises AuditError."""
    try:
        return psycopg.connect(canonical(dsn, application_name=name), autocommit=True)
    except BadDsnError as error:
        raise AuditError(str(error)) from None
    except psycopg.Error as error:
        raise AuditError(f"cannot connect: {str(error).strip()}") from error
