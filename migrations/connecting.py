"""Open a database for Alembic and SQLAlchemy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import Connection, create_engine, text

from ..text.passfile import accessible
from .roles import MigrationError

ENCODING = "UTF8"
"""The encoding that a database must have: the procedures' own texts need it, and so does a body in any language."""


@contextmanager
def begin(dsn: str) -> Iterator[Connection]:
    """Open a transaction on its own connection, which is closed afterwards.

    dsn: libpq's form; its passfile may come from HOWDAH_PASSFILE.
    Raises BadDsnError, or MigrationError if the database has another encoding than UTF8.
    """
    access = accessible(dsn)
    # Without hstore: SQLAlchemy looks for it before there is a transaction that could have the path below.
    engine = create_engine("postgresql+psycopg://", creator=lambda: _connect(access), use_native_hstore=False)
    try:
        with engine.begin() as connection:
            # Where others may create in public, their operators would be called with the rights of the login. It is
            # no setting of the session, which a pooler would hand on to somebody else.
            connection.execute(text("set local search_path = pg_catalog, pg_temp"))
            yield connection
    finally:
        engine.dispose()


def _connect(access: str) -> psycopg.Connection:
    # PGCLIENTENCODING of the environment would hold for the procedures' texts too.
    connection = psycopg.connect(access, client_encoding=ENCODING)
    found = connection.info.parameter_status("server_encoding")
    if found == ENCODING:
        return connection
    database = connection.info.dbname
    connection.close()
    raise MigrationError(
        f"database {database} has the encoding {found}, and Howdah needs {ENCODING}. Create another one:"
        f"\n\ncreate database howdah encoding '{ENCODING}' locale 'C' template template0;"
    )
