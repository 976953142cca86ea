# Written by tools/make_sync.py from engine/aio/admin/users.py: change that, and run make sync.
"""Users and groups: roles of PostgreSQL, made by whoever may create roles."""

from __future__ import annotations

from typing import Any, cast

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from ..calls import AnyCursor, Call, Rows
from ..calls.verbs import Verbs
from ..errors import BadArgument

_ROLES = """select r.rolname::text as name, r.rolcanlogin as login,
    array(select g.rolname::text from pg_auth_members m join pg_roles g on g.oid = m.roleid
        where m.member = r.oid order by 1) as groups
from pg_roles r
where r.rolname !~ '^pg_'
order by 1"""


class Users(Verbs):
    """Verbs over a connection. They act as its own role, which needs CREATEROLE.

    A password is hashed here (SCRAM-SHA-256). Neither the server nor its log ever sees it. What an administrator of
    Howdah does is in the record of changes; PostgreSQL tells nobody what others do with roles.
    """

    def create(self, name: str, password: str | None = None, *, groups: tuple[str, ...] = ()) -> None:
        """Create a role that may log in, as a member of groups."""
        self._execute(name, sql.SQL("create role {} login").format(sql.Identifier(name)), password, groups)

    def create_group(self, name: str, *, groups: tuple[str, ...] = ()) -> None:
        """Create a role that may not log in, whose members have its rights."""
        self._execute(name, sql.SQL("create role {} nologin").format(sql.Identifier(name)), groups=groups)

    def set_password(self, name: str, password: str) -> None:
        """Give a role another password."""
        self._execute(name, sql.SQL("alter role {}").format(sql.Identifier(name)), password)

    def add(self, group: str, member: str) -> None:
        """Make a role a member of a group."""
        self._execute(member, _membership("grant {} to {}", group, member))

    def remove(self, group: str, member: str) -> None:
        """End a role's membership in a group."""
        self._execute(member, _membership("revoke {} from {}", group, member))

    def drop(self, name: str) -> None:
        """Drop a role. Access rules that name it stay, and count for a later role of the same name."""
        self._execute(name, sql.SQL("drop role {}").format(sql.Identifier(name)))

    def list(self) -> Rows:
        """Return the roles: name, login, groups."""
        return self._run(
            Call(_ROLES, (), lambda rows: [{"name": n, "login": login, "groups": groups} for n, login, groups in rows])
        )

    def _execute(
        self, name: str, statement: sql.Composed, password: str | None = None, groups: tuple[str, ...] = ()
    ) -> None:
        """Run a statement about a role, and record it if the caller is an administrator of Howdah."""

        def execute(cursor: AnyCursor) -> None:
            ours = cast("psycopg.Cursor[Any]", cursor)
            whole = statement
            if password is not None:
                whole = sql.SQL("{} password {}").format(statement, _hashed(ours, name, password))
            with ours.connection.transaction():
                recorded = _may_record(ours)
                before = _state(ours, name) if recorded else None
                try:
                    ours.execute(whole)
                    for group in groups:
                        ours.execute(_membership("grant {} to {}", group, name))
                except psycopg.errors.UndefinedObject as error:
                    # This is not one of our objects: do not say that Howdah is not migrated.
                    raise BadArgument(str(error.diag.message_primary)) from error
                if recorded:
                    ours.execute("select howdah.record_user(%s, %s, %s)", (name, before, password is not None))

        # These statements return no rows, which a call must.
        self._run(Call("select true", (), lambda rows: None, execute))


def _may_record(cursor: psycopg.Cursor[Any]) -> bool:
    cursor.execute(
        "select coalesce(bool_or(has_function_privilege(p.oid, 'execute') and has_schema_privilege(n.oid, 'usage')),"
        " false) from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " where n.nspname = 'howdah' and p.proname = 'record_user'"
    )
    (may,) = (cursor.fetchall())[0]
    return bool(may)


def _state(cursor: psycopg.Cursor[Any], name: str) -> Jsonb | None:
    cursor.execute("select howdah.user_state(%s)", (name,))
    (state,) = (cursor.fetchall())[0]
    return None if state is None else Jsonb(state)


def _membership(statement: str, group: str, member: str) -> sql.Composed:
    template = sql.SQL(cast("Any", statement))
    return template.format(sql.Identifier(group), sql.Identifier(member))


def _hashed(cursor: psycopg.Cursor[Any], user: str, password: str) -> sql.Literal:
    """The password as the server stores it. Raises BadArgument for an empty one, which no server takes."""
    if not password or "\0" in password:
        raise BadArgument("the password is empty or has a null character")
    pgconn = cursor.connection.pgconn
    encoding = cursor.connection.info.encoding
    hashed = pgconn.encrypt_password(password.encode(encoding), user.encode(encoding), b"scram-sha-256")
    return sql.Literal(hashed.decode("ascii"))
