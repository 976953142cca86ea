"""howdah migrate: install or upgrade Howdah in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import output
from .common import NOT_READY, OK, Dsn, Json, Yes, confirm, connected, resolve_dsn

if TYPE_CHECKING:
    from ..migrations import State
    from ..procedures import Roles

DEFAULT_ENGINE_NAME = "howdah"


def migrate(
    one_role: Annotated[
        bool, typer.Option("--one-role", help="Create no roles; the connecting role owns and uses everything.")
    ] = False,
    role_prefix: Annotated[
        str | None,
        typer.Option("--role-prefix", metavar="P", help="Name the roles P_owner, P_admin, … [default: howdah]"),
    ] = None,
    engine_name: Annotated[
        str,
        typer.Option("--engine-name", metavar="N", help="Last part of the name of the system's exception destination."),
    ] = DEFAULT_ENGINE_NAME,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="REVISION", help="Target revision of the tables; base removes them and their data."
        ),
    ] = "head",
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 3 if there is anything to do.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Change nothing; show what is installed.")] = False,
    persistent: Annotated[
        bool | None,
        typer.Option(
            "--persistent/--non-persistent",
            help="Non-persistent loses every message when the server restarts."
            " [default: unchanged; persistent when new]",
        ),
    ] = None,
    yes: Yes = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Install Howdah in a database or upgrade it. Running it again changes nothing."""
    from .. import migrations
    from ..text.dsn import shown

    if one_role and role_prefix is not None:
        raise typer.BadParameter("--one-role has no roles that --role-prefix could name", param_hint="--role-prefix")
    dsn = resolve_dsn(dsn)
    user = _user(dsn)
    database = shown(dsn)
    before = migrations.state(dsn)
    if check or status:
        _show(before, database, as_json=as_json)
        raise typer.Exit(NOT_READY if check and not before.current else OK)
    if _is_older(to, before.revision):
        confirm(f"Go back from revision {before.revision} to {to}? Data of what is removed is lost.", yes=yes)
        after = migrations.downgrade(dsn, to)
    else:
        roles = _roles(one_role, role_prefix, user)
        after = migrations.migrate(dsn, roles=roles, engine_name=engine_name, revision=to)
        if before.revision is None and after.current:
            _begin_embedded(dsn)
        if persistent is not None:
            with connected(dsn, None) as connection:
                connection.admin.alter_engine(persistent=persistent)
    if as_json:
        _show(after, database, as_json=True)
    else:
        output.write("\n".join([*_done(before, after), database]))
        if before.revision is None and after.current and (grant := migrations.missing_grant(dsn)) is not None:
            output.write(f"role {user} has none of Howdah's roles yet; to administer and use queues: {grant}")


def _user(dsn: str) -> str:
    """Return our role in the database. Raises an error if it does not answer."""
    with connected(dsn, None) as connection, connection.session() as session:
        return str(session.connection.execute("select current_user").fetchone()[0])


def _begin_embedded(dsn: str) -> None:
    """Let queues and topics create themselves in a new database of an embedded server: its users have no administrator.

    This is the one place that does so: docs/auto-creation.md.
    """
    with connected(dsn, None) as connection:
        with connection.session() as session:
            (embedded,) = session.connection.execute("select current_setting('howdah.embedded', true)").fetchone()
        if embedded == "on":
            connection.admin.alter_engine(autocreate_queue=True, autocreate_topic=True)


def _roles(one_role: bool, prefix: str | None, user: str) -> Roles | None:
    from ..procedures import Roles

    if one_role:
        return Roles.one(user)
    return None if prefix is None else Roles.with_prefix(prefix)


def _is_older(revision: str, installed: str | None) -> bool:
    """Return whether ``revision`` is older than the ``installed`` one."""
    from alembic.script import ScriptDirectory

    from ..migrations import config

    if revision == "base" or revision.startswith("-"):
        return True
    if installed is None or revision == "head":
        return False
    known = [script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()]  # newest first
    return revision in known and installed in known and known.index(revision) > known.index(installed)


def _done(before: State, after: State) -> list[str]:
    lines = []
    if after.revision != before.revision:
        lines.append(f"tables: {before.revision or 'none'} -> {after.revision or 'none'}")
    if after.procedures_current and not before.procedures_current:
        lines.append("procedures: installed")
    if not lines:
        lines.append(f"nothing to do: revision {after.revision or 'none'}")
    if not after.current:
        lines.append(f"not current: this version of howdah has revision {after.head}")
    return lines


def _show(state: State, database: str, *, as_json: bool) -> None:
    facts = {"revision": state.revision, "newest_revision": state.head, "current": state.current}
    if as_json:
        output.facts(facts | {"procedures_current": state.procedures_current, "database": database}, as_json=True)
        return
    procedures = "current" if state.procedures_current else "older" if state.revision else None
    shown = {
        "tables": f"revision {state.revision}" if state.revision else "none",
        "newest": f"revision {state.head}",
        "procedures": procedures or "none",
        "current": state.current,
        "in": database,
    }
    output.facts(shown, as_json=False)
