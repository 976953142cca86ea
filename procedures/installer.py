"""Install the SQL API: every function and view, their comments and their grants."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from typing import Protocol

from .contents import FACADES, FILES, facade_files, installed, source
from .parser import headers
from .roles import Roles

_VIEW = re.compile(r"^create or replace view howdah\.(\w+)", re.MULTILINE)


class Database(Protocol):
    """What the installer needs of a connection: run SQL text without parameters, and read rows."""

    def run(self, sql: str) -> list[tuple[object, ...]]:
        """Run one or several statements; return the rows of the last one."""


# Called with nobody's rights.
CALLS = (
    "howdah._call_poison_procedure(name, text, text, howdah.message, jsonb)",
    "howdah._call_transformation(name, text, text, howdah.message)",
)


def checksum(roles: Roles) -> str:
    """Return a checksum of the texts and role names. Another value means that there is something to install."""
    digest = hashlib.sha256(json.dumps(asdict(roles)).encode())
    for name in FILES:
        digest.update(installed(name).encode())
    for facade in FACADES:
        for text in facade_files(facade):
            digest.update(text.encode())
    return digest.hexdigest()


def literal(value: str) -> str:
    """Return a string as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"


def identifier(value: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + value.replace('"', '""') + '"'


def install(database: Database, roles: Roles, engine_name: str) -> None:
    """Install every procedure and view anew, in the caller's transaction, as the owner role.

    Signatures that are no longer listed are dropped, everything is revoked from PUBLIC, and what the headers say is
    granted. PostgreSQL stamps each replaced function with the transaction's id; the others are the stale ones.
    """
    for name in FILES:
        database.run(installed(name))
    stale = database.run(
        "select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " and p.xmin::text::bigint <> (pg_current_xact_id()::text::numeric % 4294967296)::bigint"
    )
    for (signature,) in stale:
        database.run(f"drop function {signature}")
    grant(database, roles)
    give_away(database, roles)
    database.run(
        f"select howdah._setup({literal(engine_name)}, {literal(json.dumps(roles.users()))}::jsonb,"
        f" {literal(checksum(roles))})"
    )


def give_away(database: Database, roles: Roles) -> None:
    """Give the calls of applications' functions to the role without rights, which may create nothing afterwards."""
    if roles.is_one:
        return
    nobody = identifier(roles.nobody)
    database.run(f"grant create on schema howdah to {nobody}")
    for signature in CALLS:
        database.run(f"alter function {signature} owner to {nobody}; grant execute on function {signature} to {nobody}")
    database.run(f"revoke all on schema howdah from {nobody}")


def grant(database: Database, roles: Roles) -> None:
    """Comment and grant what the headers say; PUBLIC gets nothing but the clock."""
    users = {f"howdah_{kind}": name for kind, name in roles.users().items()}
    everybody = ", ".join(sorted({identifier(name) for name in users.values()}))
    statements = [
        "revoke all on all functions in schema howdah from public",
        "revoke all on all tables in schema howdah from public",
        # In one-role mode the owner is the application's login, whose other functions are none of Howdah's business.
        *([] if roles.is_one else ["alter default privileges revoke execute on functions from public"]),
        *([] if roles.is_one else [f"revoke all on all functions in schema howdah from {everybody}"]),
        *([] if roles.is_one else [f"revoke all on all tables in schema howdah from {everybody}"]),
        f"grant usage on schema howdah to {everybody}",
    ]
    signatures: dict[str, list[str]] = {}
    for name, signature in database.run(
        "select p.proname::text, p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
    ):
        signatures.setdefault(str(name), []).append(str(signature))
    for file in FILES:
        text = source(file)
        views = _VIEW.findall(text)
        for header in headers(text):
            allowed = [users[role] for role in header.roles if role in users]
            if header.roles == ("everybody",):
                allowed = list(users.values())
            grantees = ", ".join(sorted({identifier(role) for role in allowed}))
            if header.kind == "view":
                statements += [f"grant select on howdah.{view} to {grantees}" for view in views]
                continue
            for signature in signatures[header.name]:
                statements.append(f"comment on function {signature} is {literal(header.summary)}")
                if grantees:
                    statements.append(f"grant execute on function {signature} to {grantees}")
    database.run(";\n".join(statements))
