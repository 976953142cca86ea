"""Alembic's entry. One transaction, lock and role for revisions, procedures and what revisions do with these."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from alembic import context
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext, MigrationInfo
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, text

from howdah.migrations.connecting import begin
from howdah.migrations.facades import DriverDatabase
from howdah.migrations.roles import MigrationError, ensure_roles, installed_roles
from howdah.procedures import FACADES, Roles, checksum, facade_owner, identifier, install, install_facade
from howdah.schema import SCHEMA, metadata

LOCK = 1213154371  # any constant nobody else uses; two first migrations at once take turns


def chosen_roles(connection: Connection) -> Roles:
    """Return the installed roles, else the caller's, else the environment's, else the six default roles.

    Raises MigrationError if the caller asks for other roles than are installed.
    """
    wanted: Roles | None = context.config.attributes.get("roles")
    installed = installed_roles(connection)
    if installed is not None:
        if wanted is not None and wanted != installed:
            raise MigrationError(
                f"Howdah is installed with the roles of {installed.owner}, and they cannot be changed by a migration."
                " Leave --one-role and --role-prefix out."
            )
        return installed
    if wanted is None and os.environ.get("HOWDAH_ONE_ROLE"):
        wanted = Roles.one(str(connection.scalar(text("select current_user"))))
    return wanted or Roles()


def take_turns(connection: Connection, roles: Roles) -> None:
    """Wait for another migration.

    Its own table locks an installation: strangers cannot lock that. Before the first installation there is only an
    advisory lock, which any login can hold.
    """
    installed = text("select to_regclass('howdah.alembic_version') is not null")
    if not connection.scalar(installed):
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": LOCK})
        if not connection.scalar(installed):
            return
    before = connection.scalar(text("select current_setting('role')"))
    connection.execute(text(f"set local role {identifier(roles.owner)}"))
    connection.execute(text("lock table howdah.alembic_version in share row exclusive mode"))
    connection.execute(text("select set_config('role', :role, true)"), {"role": before})


def prepare(connection: Connection, roles: Roles) -> None:
    """Create missing schema and roles, and continue as the owner."""
    take_turns(connection, roles)
    if not roles.is_one:
        ensure_roles(connection, roles)
    if connection.scalar(text("select to_regnamespace('howdah')")) is None:
        connection.execute(text(f"create schema {SCHEMA} authorization {identifier(roles.owner)}"))
    connection.execute(text(f"set local role {identifier(roles.owner)}"))


def refuse_unknown(connection: Connection, scripts: ScriptDirectory) -> None:
    """Raise MigrationError if the database is at a revision that this code does not have."""
    if connection.scalar(text("select to_regclass('howdah.alembic_version')")) is None:
        return
    known = {script.revision for script in scripts.walk_revisions()}
    baseline = min(known)
    for revision in connection.scalars(text("select version_num from howdah.alembic_version")):
        if revision in known:
            continue
        if revision < baseline:
            raise MigrationError(
                f"the database is at revision {revision}, which was never released, so no revision leads on from it."
                " Export what you need, with the howdah that made it or with pg_dump --schema=howdah. Then drop it:"
                "\n\ndrop schema howdah cascade;\n\nand run howdah migrate again."
            )
        raise MigrationError(
            f"the database is at revision {revision}, which this version of howdah does not know:"
            " it is newer than the code. Upgrade howdah instead."
        )


def declared(name: str | None, kind: str, parents: Any) -> bool:
    """Whether ``alembic revision --autogenerate`` compares this: not the journal's weeks, nor what is not ours."""
    if kind == "schema":
        return name == SCHEMA
    return kind != "table" or f"{SCHEMA}.{name}" in metadata.tables


def run(connection: Connection) -> None:
    """Migrate on this connection, whose transaction the caller ends."""
    scripts = ScriptDirectory.from_config(context.config)
    roles = chosen_roles(connection)
    prepare(connection, roles)
    refuse_unknown(connection, scripts)
    steps: list[MigrationInfo] = []

    def note(ctx: MigrationContext, step: MigrationInfo, heads: Collection[Any], run_args: Mapping[str, Any]) -> None:
        steps.append(step)

    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table_schema=SCHEMA,
        include_schemas=True,
        include_name=declared,
        transaction_per_migration=False,
        on_version_apply=note,
    )
    context.run_migrations()
    if connection.scalar(text("select to_regclass('howdah.engine')")) is None:
        return
    upgrades = [step.up_revision_id for step in steps if step.is_upgrade and step.is_migration]
    applied = [scripts.get_revision(revision) for revision in upgrades if revision]
    if connection.scalar(text("select version_num from howdah.alembic_version")) == scripts.get_current_head():
        finish(connection, roles, applied)
        return
    for script in applied:
        if hasattr(script.module, "after_procedures"):
            raise MigrationError(
                f"revision {script.revision} needs the procedures, which belong to the newest revision:"
                " migrate to that one."
            )
    if steps:
        # A revision may drop what stands in its way: whoever comes next installs all of it.
        connection.execute(text("update howdah.engine set procedures_checksum = ''"))


def finish(connection: Connection, roles: Roles, applied: list[Script]) -> None:
    """Install the procedures if they changed or revisions ran, and then take the revisions' last steps."""
    database = DriverDatabase(connection)
    stored = connection.scalar(text("select procedures_checksum from howdah.engine"))
    if applied or stored != checksum(roles):
        install(database, roles, context.config.attributes.get("engine_name", "howdah"))
        database.run("select howdah.maintain_journal()")
        for facade in FACADES:
            if facade_owner(database, facade) == "howdah":
                install_facade(database, roles, facade)
    for script in applied:
        if hasattr(script.module, "after_procedures"):
            with Operations.context(context.get_context()):
                script.module.after_procedures()


def main() -> None:
    """Use the caller's connection, else the one of ``-x dsn=`` or HOWDAH_DSN."""
    if context.is_offline_mode():
        raise MigrationError("howdah migrates a live database only: procedures and grants depend on what is installed.")
    connection: Connection | None = context.config.attributes.get("connection")
    if connection is not None:
        run(connection)
        return
    dsn = context.get_x_argument(as_dictionary=True).get("dsn") or os.environ.get("HOWDAH_DSN")
    if not dsn:
        raise MigrationError("name the database: alembic -x dsn=postgresql://… or HOWDAH_DSN")
    with begin(dsn) as opened:
        run(opened)


main()
