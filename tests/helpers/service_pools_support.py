"""What tests of services import: the connections of a database, and the service's settings."""

from __future__ import annotations

from howdah.engine import connect

BACKENDS = (
    "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    " and backend_type = 'client backend' and application_name like 'howdah%'"
)

LISTENING = BACKENDS + " and query = 'listen howdah'"


def alter(dsn: str, **options: object) -> None:
    """Change the service jms."""
    with connect(dsn) as connection:
        connection.services.alter("jms", **options)  # type: ignore[arg-type]
