"""The data folder of an embedded server: made once, whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

import psycopg

from .layout import EmbeddedServerError, Layout
from .programs import Account

DATABASE = "howdah"
SUPERUSER = "postgres"
# A setting that tells howdah migrate whose server this is: that of who may use all queues.
EMBEDDED = "howdah.embedded"

# Written into postgresql.conf, where the folder's owner may change them afterwards.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "300",
    # PostgreSQL's own default, 0, refuses two-phase commit.
    "max_prepared_transactions": "50",
    "shared_buffers": "256MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "password_encryption": "scram-sha-256",
    # A file for each day of the week, overwritten when its day comes again.
    "logging_collector": "on",
    "log_directory": "../log",
    "log_filename": "server-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
}


def make_data(layout: Layout, programs: Path, version: int, account: Account) -> None:
    """Make data/, with an empty database and a superuser who needs the folder's password.

    It is made under another name, and moved when it is whole. So a crash on the way leaves nothing that looks like a
    database.
    """
    for old in layout.folder.glob("draft-*"):
        shutil.rmtree(old, ignore_errors=True)
    draft = layout.folder / f"draft-{secrets.token_hex(4)}"
    draft.mkdir(mode=0o700)
    password = draft / "password"
    password.touch(mode=0o600)
    password.write_text(layout.password(create=True))
    for path in (password, draft):
        os.chown(path, account.uid, account.gid)

    # Byte order for sorting and UTF-8 for letters. From 17 on PostgreSQL knows them itself;
    # before, the C library must.
    locale = ["--locale=C.UTF-8"]
    if version >= 17:
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    initdb: list[str | Path] = [
        programs / "initdb",
        "--pgdata=data",
        f"--username={SUPERUSER}",
        "--pwfile=password",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        *locale,
        "--data-checksums",
    ]
    # Without its server PostgreSQL takes SQL from standard input.
    single = ["--single", "-D", "data", "-c", "logging_collector=off", "-c", "exit_on_error=on"]
    create: list[str | Path] = [programs / "postgres", *single, "postgres"]
    for command, typed in ((initdb, ""), (create, f"create database {DATABASE};\n")):
        done = account.run(*command, cwd=draft, typed=typed)
        if done.returncode != 0:
            shutil.rmtree(draft, ignore_errors=True)
            raise EmbeddedServerError(f"no database could be made:\n{done.stdout.strip()[-2000:]}")
    # Not by initdb's --set, which PostgreSQL 15 does not have.
    with (draft / "data" / "postgresql.conf").open("a") as configuration:
        configuration.writelines(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
    (draft / "data").rename(layout.data)
    shutil.rmtree(draft)


def give_space_back(dsn: str) -> None:
    """Rewrite the tables that messages come and go in, without dead rows."""
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("set lock_timeout = '2s'")
        for name in ("msgs", "msgs_nonpersistent", "parked"):
            with suppress(
                psycopg.errors.LockNotAvailable, psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName
            ):
                db.execute(f"vacuum (full, analyze) howdah.{name}")
