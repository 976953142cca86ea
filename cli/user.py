"""howdah user: users and groups, which are roles of PostgreSQL."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected, transaction

app = typer.Typer(
    no_args_is_help=True, help="Manage users and groups: roles of PostgreSQL, made by whoever may create roles."
)

User = Annotated[str, typer.Argument(metavar="USER", help="Name of the role.", show_default=False)]
Groups = Annotated[
    list[str] | None, typer.Option("--group", "-g", metavar="ROLE", help="Group to join. May be repeated.")
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="File whose first line is the password; - is stdin. Nobody else may read it. [default: ask]",
    ),
]

COLUMNS = tables.Columns({"name": "name", "kind": "kind", "groups": "groups"}, fold=frozenset({"groups"}))


@app.command()
def create(
    user: User,
    group: Groups = None,
    password_file: PasswordFile = None,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="Set none, where the server asks for none (LDAP, certificates).")
    ] = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Create a user, who may log in. The password is asked for, and hashed before it is sent."""
    password = None if no_password else _password(user, password_file)
    with connected(dsn, role) as connection:
        connection.users.create(user, password, groups=tuple(group or ()))
    output.said(f"user {user} created", as_json=as_json, user=user, groups=group or [])


@app.command()
def password(
    user: User, password_file: PasswordFile = None, dsn: Dsn = None, role: Role = None, as_json: Json = False
) -> None:
    """Give a user another password. It is asked for, and hashed before it is sent."""
    new = _password(user, password_file)
    with connected(dsn, role) as connection:
        connection.users.set_password(user, new)
    output.said(f"password of {user} changed", as_json=as_json, user=user)


@app.command()
def group(
    name: Annotated[str, typer.Argument(metavar="GROUP", help="Name of the role.", show_default=False)],
    add: Annotated[list[str] | None, typer.Option("--add", metavar="USER", help="User to add.")] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", metavar="USER", help="User to remove.")] = None,
    into: Groups = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Create a group if there is none of that name, and add users to it or remove them: all, or nothing."""
    from ..engine.admin.users import Users

    with transaction(dsn, role) as session:
        users = Users(session.call)
        made = name not in {row["name"] for row in users.list()}
        if made:
            users.create_group(name, groups=tuple(into or ()))
        else:
            for other in into or ():
                users.add(other, name)
        for user in add or ():
            users.add(name, user)
        for user in remove or ():
            users.remove(name, user)
    done = ["created"] * made + [f"{user} added" for user in add or ()] + [f"{user} removed" for user in remove or ()]
    text = f"group {name}: {', '.join(done) or 'nothing to do'}"
    output.said(text, as_json=as_json, group=name, created=made, added=add or [], removed=remove or [])


@app.command("list")
def list_(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List users and groups with the groups that they are in."""
    with connected(dsn, role) as connection:
        rows = connection.users.list()
    shown = (
        rows
        if as_json
        else [
            {"name": row["name"], "kind": "user" if row["login"] else "group", "groups": ", ".join(row["groups"])}
            for row in rows
        ]
    )
    tables.show(shown, COLUMNS, as_json=as_json, empty="no roles", wide=wide)


@app.command()
def drop(user: User, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Drop a user or group. Access rules that name it stay: they count for a later role of that name."""
    with connected(dsn, role) as connection:
        confirm(f"Drop role {output.printable(user)}?", yes=yes)
        connection.users.drop(user)
    output.said(f"role {user} dropped", as_json=as_json, user=user)


def _password(user: str, file: Path | None) -> str:
    """The password from a file, from stdin, or from the user. It is never an argument, which others could see."""
    from ..text.passfile import read_secret

    if file is None:
        if not sys.stdin.isatty():
            raise typer.BadParameter("stdin is no terminal: give --password-file", param_hint="--password-file")
        given = typer.prompt(
            f"Password of {output.printable(user)}", hide_input=True, confirmation_prompt=True, err=True
        )
        return str(given)
    if str(file) == "-":
        return sys.stdin.readline().rstrip("\r\n")
    return read_secret(file)
