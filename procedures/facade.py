"""Facades: other queues' SQL APIs over Howdah, each in a schema and a room of its own. The usual install has none."""

from __future__ import annotations

import re

from .contents import FACADES, facade_files
from .installer import Database, identifier, literal
from .parser import headers
from .roles import Roles

MARK = "Facade of Howdah: "
"""How the comment of a facade's schema begins. A schema without it, or not of Howdah's owner, is somebody else's."""

_FUNCTION = re.compile(r"^create or replace function \w+\.(\w+)", re.MULTILINE)

_TABLES: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {
    "pgmq": {
        "meta": {"select": ("admin", "producer", "consumer", "browser", "auditor")},
        "topic_bindings": {"select": ("admin", "producer", "consumer", "browser", "auditor")},
        "notify_insert_throttle": {
            "select": ("admin", "producer", "consumer", "browser", "auditor"),
            "update": ("admin",),
        },
    },
    "pgmq_public": {},
}


def facade_owner(database: Database, facade: str) -> str | None:
    """Who has the facade's schema: howdah (the facade is installed), somebody else's, or None: there is none.

    Whoever may create a schema may write the mark on it, but not give it to Howdah's owner.
    """
    rows = database.run(
        "select starts_with(obj_description(s.oid, 'pg_namespace'), " + literal(MARK) + ") and s.nspowner ="
        " (select n.nspowner from pg_namespace n where n.nspname = 'howdah') from pg_namespace s"
        f" where s.nspname = {literal(facade)}"
    )
    if not rows:
        return None
    return "howdah" if rows[0][0] else "other"


def install_facade(database: Database, roles: Roles, facade: str) -> None:
    """Install a facade or bring it up to date, in the caller's transaction, as the owner of its schema."""
    texts = facade_files(facade)
    (count,) = database.run(f"select count(*) from pg_proc where pronamespace = to_regnamespace({literal(facade)})")
    for text in texts:
        if count[0]:
            _drop_replaced(database, facade, text)
        database.run(text)
    stale = database.run(
        f"select p.oid::regprocedure::text from pg_proc p where p.pronamespace = to_regnamespace({literal(facade)})"
        " and p.xmin::text::bigint <> (pg_current_xact_id()::text::numeric % 4294967296)::bigint"
    )
    for (signature,) in stale:
        database.run(f"drop function {signature}")
    database.run(";\n".join(_grants(database, roles, facade, texts)))


def _drop_replaced(database: Database, facade: str, text: str) -> None:
    """Drop the functions of a file that PostgreSQL could not replace: their result or argument names are others now.

    It finds out in a subtransaction that always fails. The stamps of functions must be of the outer one. What has views
    on it, PostgreSQL refuses to drop, and so does this.
    """
    names = ", ".join(literal(name) for name in set(_FUNCTION.findall(text)))
    if names:
        database.run(
            f"do $room$ begin execute {literal(text)}; raise sqlstate 'HD000';"
            " exception when sqlstate 'HD000' then null; when invalid_function_definition then"
            "  execute (select string_agg(format('drop function %s', p.oid::regprocedure), '; ') from pg_proc p"
            f"   where p.pronamespace = {literal(facade)}::regnamespace and p.proname in ({names})); end $room$"
        )


def _grants(database: Database, roles: Roles, facade: str, texts: tuple[str, ...]) -> list[str]:
    users = {f"howdah_{kind}": identifier(name) for kind, name in roles.users().items()}
    everybody = ", ".join(sorted(set(users.values())))
    statements = [
        f"comment on schema {facade} is {literal(MARK + FACADES[facade])}",
        f"revoke all on all functions in schema {facade} from public",
        f"grant usage on schema {facade} to {everybody}",
        *([] if roles.is_one else [f"revoke all on all functions in schema {facade} from {everybody}"]),
    ]
    signatures: dict[str, list[str]] = {}
    for name, signature in database.run(
        "select p.proname::text, p.oid::regprocedure::text from pg_proc p"
        f" where p.pronamespace = to_regnamespace({literal(facade)})"
    ):
        signatures.setdefault(str(name), []).append(str(signature))
    for header in (one for text in texts for one in headers(text)):
        allowed = [users[role] for role in header.roles if role in users]
        grantees = everybody if header.roles == ("everybody",) else ", ".join(sorted(set(allowed)))
        for signature in signatures[header.name]:
            statements.append(f"comment on function {signature} is {literal(header.summary)}")
            if grantees:
                statements.append(f"grant execute on function {signature} to {grantees}")
    for table, rights in _TABLES[facade].items():
        for right, kinds in rights.items():
            grantees = ", ".join(sorted({users[f"howdah_{kind}"] for kind in kinds}))
            statements.append(f"grant {right} on {facade}.{table} to {grantees}")
    return statements


def checked_name(facade: str) -> str:
    """The name of a facade, which becomes the name of a schema. Raises ValueError if there is none of that name."""
    if facade not in FACADES or not re.fullmatch("[a-z_]+", facade):
        raise ValueError(f"there is no facade {facade!r}, only {', '.join(FACADES)}")
    return facade
