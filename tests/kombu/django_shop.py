"""A program with Django: an order and its task in one transaction. Its arguments: a DSN, and whether to commit."""

from __future__ import annotations

import sys

import django
from celery_support import application
from django.conf import settings
from django.db import connection, transaction
from psycopg.conninfo import conninfo_to_dict

from howdah.kombu import using


def main(dsn: str, commit: bool) -> None:
    given = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    database = {"ENGINE": "django.db.backends.postgresql", "NAME": given["dbname"], "USER": given["user"]}
    database |= {"PASSWORD": given["password"], "HOST": given["host"], "PORT": given["port"]}
    settings.configure(DATABASES={"default": database}, USE_TZ=True)
    django.setup()
    with (
        application(dsn) as app,
        transaction.atomic(),
        using(connection),
        connection.cursor() as cursor,
    ):
        cursor.execute("insert into orders values ('mocha')")
        app.send_task("shop.brew", ("mocha",))
        transaction.set_rollback(not commit)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "True")
