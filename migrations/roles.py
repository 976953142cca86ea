"""Find the roles that own and use Howdah, create them if the installer may, or explain what to do."""

from __future__ import annotations

from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from ..procedures import Roles, identifier


class MigrationError(Exception):
    """The database cannot be migrated; the message says why and what to do."""


def installed_roles(connection: Connection) -> Roles | None:
    """Return the roles of an earlier installation, or None without one.

    Raises MigrationError if there was one that the installer may not act for.
    """
    owner = connection.scalar(
        text(
            "select pg_get_userbyid(nspowner)::text from pg_namespace where nspname = 'howdah'"
            " and not pg_has_role(current_user, nspowner, 'MEMBER')"
        )
    )
    if owner is not None:
        me = str(connection.scalar(text("select current_user")))
        raise MigrationError(
            f"Howdah is installed here and belongs to {owner}, as which role {me} may not act."
            f" Let an administrator run:\n\ngrant {identifier(owner)} to {identifier(me)};"
        )
    if connection.scalar(text("select to_regclass('howdah.engine')")) is None:
        return None
    row = connection.execute(
        text(
            "select pg_get_userbyid(n.nspowner)::text, e.admin_role, e.producer_role, e.consumer_role, e.browser_role,"
            " e.auditor_role from howdah.engine e join pg_namespace n on n.nspname = 'howdah'"
        )
    ).one_or_none()
    return Roles(*row) if row is not None else None


def script(roles: Roles, installer: str, missing: list[str]) -> str:
    """Return the statements with which an administrator lets ``installer`` install Howdah with these roles."""
    lines = [f"create role {identifier(name)} nologin;" for name in missing]
    lines.append(f"grant {identifier(roles.nobody)} to {identifier(roles.owner)};")
    lines.append(f"grant {identifier(roles.owner)} to {identifier(installer)};")
    return "\n".join(lines)


def ensure_roles(connection: Connection, roles: Roles) -> None:
    """Create missing roles and let the installer act as the owner, or on the embedded server as all of them.

    Raises MigrationError with the script to run where the installer may not create roles.
    """
    me = str(connection.scalar(text("select current_user")))
    wanted = [roles.owner, *roles.users().values(), roles.nobody]
    present = set(
        connection.scalars(text("select rolname::text from pg_roles where rolname = any(:names)"), {"names": wanted})
    )
    missing = [name for name in dict.fromkeys(wanted) if name not in present]
    mine = connection.execute(
        text("select rolcreaterole or rolsuper, rolsuper from pg_roles where rolname = current_user")
    ).one()
    if missing and not mine[0]:
        raise MigrationError(
            f"role {me} may not create the roles {', '.join(missing)}. Let an administrator run:\n\n"
            f"{script(roles, me, missing)}\n\nor install in one-role mode: howdah migrate --one-role"
        )
    for name in missing:
        connection.execute(text(f"create role {identifier(name)} nologin"))
    member = text("select pg_has_role(current_user, :owner, 'MEMBER')")
    if not connection.scalar(member, {"owner": roles.owner}):
        grant = f"grant {identifier(roles.owner)} to {identifier(me)}"
        try:
            with connection.begin_nested():
                connection.execute(text(grant))
        except ProgrammingError as error:
            raise MigrationError(
                f"role {me} may not act as {roles.owner}. Let an administrator run:\n\n{grant};\n\n"
                "or install in one-role mode: howdah migrate --one-role"
            ) from error
    version = int(str(connection.scalar(text("show server_version_num"))))
    if version >= 160000 and not mine[1] and roles.owner in missing:
        # Since PostgreSQL 16 the creator of a role gets ADMIN only and must grant itself the right to act as it.
        connection.execute(text(f"grant {identifier(roles.owner)} to {identifier(me)} with inherit true, set true"))
    _let_owner_act_as_nobody(connection, roles, me)
    if connection.scalar(
        text(
            "select current_setting('howdah.embedded', true) = 'on' and rolsuper from pg_roles where rolname ="
            " current_user"
        )
    ):
        # Its one log-in is a superuser's, which stands for no membership.
        users = ", ".join(sorted({identifier(name) for name in roles.users().values()}))
        connection.execute(text(f"grant {users} to {identifier(me)}"))


def grant_for_me(connection: Connection) -> str | None:
    """Return the grant that lets the installer use Howdah, or None if it is one of Howdah's users.

    Superuser status stands for no membership, so pg_has_role does not tell.
    """
    roles = installed_roles(connection)
    if roles is None:
        return None
    memberships = text(
        "with recursive mine as (select oid from pg_roles where rolname = current_user"
        " union select m.roleid from pg_auth_members m join mine on mine.oid = m.member)"
        " select exists (select from mine join pg_roles r using (oid) where r.rolname = any(:users))"
    )
    if connection.scalar(memberships, {"users": list(roles.users().values())}):
        return None
    return f"grant {identifier(roles.admin)} to {identifier(str(connection.scalar(text('select current_user'))))};"


def _let_owner_act_as_nobody(connection: Connection, roles: Roles, me: str) -> None:
    """Let the owner give a function to the role without rights. That role must not get the owner's rights.

    Raises MigrationError with what to do where that cannot be.
    """
    owner, nobody = identifier(roles.owner), identifier(roles.nobody)
    member = text("select pg_has_role(:member, :of, 'MEMBER')")
    if connection.scalar(member, {"member": roles.nobody, "of": roles.owner}):
        raise MigrationError(
            f"role {roles.nobody} has the rights of {roles.owner}, and must have none: poison procedures are called"
            f" as it."
            f" Let an administrator run:\n\nalter role {nobody} nosuperuser; revoke {owner} from {nobody};"
        )
    if connection.scalar(member, {"member": roles.owner, "of": roles.nobody}):
        return
    grant = f"grant {nobody} to {owner}"
    try:
        with connection.begin_nested():
            connection.execute(text(grant))
    except ProgrammingError as error:
        raise MigrationError(
            f"role {me} may not let {roles.owner} act as {roles.nobody}. Let an administrator run:\n\n{grant};"
        ) from error
