"""Connections for the audit."""

from __future__ import annotations

from typing import Any

import psycopg

from ..text.dsn import BadDsnError
from ..text.passfile import accessible
from .errors import AuditError


def opened(dsn: str, name: str) -> psycopg.Connection[Any]:
    """Open a connection in autocommit. name: shown by pg_stat_activity. Raises AuditError."""
    try:
        return psycopg.connect(accessible(dsn, application_name=name), autocommit=True)
    except BadDsnError as error:
        raise AuditError(str(error)) from None
    except psycopg.Error as error:
        raise AuditError(f"cannot connect: {str(error).strip()}") from error
