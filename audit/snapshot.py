"""One snapshot of the database that all of an audit's connections read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import IsolationLevel, errors
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from .database import opened
from .errors import AuditError

VIEWS = (
    "audit_destinations",
    "audit_messages",
    "audit_journal",
    "audit_incidents",
    "audit_acts",
    "audit_locks",
    "audit_cursors",
    "audit_workers",
)
"""The public views, in schema howdah."""

FEW_BLOCKS = 2_000
"""So many blocks of their tables at most are looked through for the number of rows: 16 MB."""

DIGESTS = "howdah.audit_digests(bigint,bigint,text,bigint,double precision)"
"""The function that sums the journal up. A role that may read the views need not have it."""

TABLES = {
    "audit_messages": ("msgs", "leased", "msgs_nonpersistent", "parked"),
    "audit_journal": ("journal",),
    "audit_incidents": ("poison_details",),
}
"""The tables under each view: its column ``place`` tells where their rows lie."""

_PASSED_ON = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "options")
"""Parameters of libpq that JDBC calls the same."""

_LOST = ("sslcrl", "sslcrldir", "require_auth")
"""Parameters that JDBC lacks. Without them, its connections would be less strict than this one."""


@dataclass(frozen=True)
class Snapshot:
    """An exported snapshot: its identifier, how JDBC reaches the same server, and how large the tables are.

    properties hold the password: they go to Spark as options, never into the URL or a log.
    blocks: number of blocks of each table (of each partition, where it has some) under a view of TABLES.
    size: bytes of all these, with what lies beside the rows because it is long (TOAST).
    text: as pg_current_snapshot() gives it.
    locked: whether the tables under the views cannot be dropped or truncated meanwhile.
    digests: whether the role may ask for digests of the journal.
    rows: those of the views, as long as they are few; otherwise more than that.
    """

    identifier: str
    url: str
    properties: dict[str, str] = field(repr=False)
    blocks: dict[str, list[int]]
    size: int
    locked: bool
    taken_at: str
    text: str
    digests: bool = False
    rows: int = 0


@contextmanager
def exported(dsn: str, few: int = 0) -> Iterator[Snapshot]:
    """Export a snapshot of the database at ``dsn`` (libpq's form) and hold it until the block is left.

    few: so many rows at most are few. The snapshot pins the database's oldest visible transaction, so leave the block
    as soon as everything is read. Raises AuditError: no answer, a pooler, a standby, a database without Howdah, or a
    role that may not read. It also does without TCP, or if its connection was lost meanwhile.
    """
    with opened(dsn, "howdah audit") as connection:
        _check(connection)
        url, properties = _jdbc(connection)
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        try:
            with connection.transaction():
                # Locks come first: LOCK takes no snapshot, so nothing can vanish between the two.
                locked = _lock(connection)
                row = connection.execute(
                    "select pg_export_snapshot(), now()::text, pg_current_snapshot()::text,"
                    " coalesce(has_function_privilege(to_regprocedure(%s), 'execute'), false)",
                    (DIGESTS,),
                ).fetchone()
                assert row is not None
                identifier, at, text, digests = row
                blocks, size = _sizes(connection)
                rows = _rows(connection, sum(map(sum, blocks.values())), few + 1)
                yield Snapshot(identifier, url, properties, blocks, size, locked, at, text, digests, rows)
        except Exception as error:
            if connection.broken:  # whatever failed later: the snapshot ended with the connection
                raise AuditError(
                    "the connection that holds the audit's snapshot was lost while the database was read"
                ) from error
            raise


def _check(connection: psycopg.Connection) -> None:
    """Refuse what cannot be audited, and turn off the timeouts that would end an idle transaction."""
    row = connection.execute(
        "select pg_backend_pid(), pg_is_in_recovery(), array_agg(v.name) filter (where to_regclass('howdah.' ||"
        " v.name) is null),"
        " array_agg(v.name) filter (where not has_table_privilege(to_regclass('howdah.' || v.name), 'select')),"
        " current_user from unnest(%s::text[]) v(name)",
        [list(VIEWS)],
    ).fetchone()
    assert row is not None
    backend, standby, absent, closed, me = row
    # A pooler answers in place of the server, with its own number for cancelling.
    if backend != connection.info.backend_pid:
        raise AuditError(
            "this DSN leads to a connection pooler, behind which no snapshot can be shared for sure: name the server"
            " itself"
        )
    if standby:
        raise AuditError("this server is a standby: a snapshot for an audit can only be exported on the primary")
    if absent:
        raise AuditError("the database has no audit views: run howdah migrate first")
    if closed:
        raise AuditError(f"role {me} may not read howdah.{closed[0]}: grant it the role howdah_auditor")
    connection.execute(
        "select set_config(s.name, '0', false) from pg_settings s where s.name in"
        " ('idle_in_transaction_session_timeout', 'transaction_timeout', 'statement_timeout')"
    )


def _lock(connection: psycopg.Connection) -> bool:
    """Lock the views, and with them the tables beneath, against DROP and TRUNCATE; False where the role may not."""
    try:
        with connection.transaction():
            views = SQL(", ").join(Identifier("howdah", view) for view in VIEWS)
            connection.execute(SQL("lock table {} in access share mode").format(views))
    except errors.InsufficientPrivilege:
        return False
    return True


def _sizes(connection: psycopg.Connection) -> tuple[dict[str, list[int]], int]:
    """The blocks of the tables under each view of TABLES, and the bytes of all. PostgreSQL tells them to any role."""
    query = (
        "select t.view, array_agg(pg_relation_size(r.id) / current_setting('block_size')::bigint),"
        " sum(pg_table_size(r.id))::bigint from jsonb_each(%s) t(view, tables)"
        " cross join lateral jsonb_array_elements_text(t.tables) n(name)"
        # It returns no row for a table without partitions.
        " left join lateral pg_partition_tree(('howdah.' || n.name)::regclass) l on true"
        " cross join lateral (select coalesce(l.relid, ('howdah.' || n.name)::regclass)) r(id)"
        " where l.isleaf is not false group by t.view"
    )
    sizes = connection.execute(query, [Jsonb(TABLES)]).fetchall()
    return {view: blocks for view, blocks, _ in sizes}, sum(size for _, _, size in sizes)


def _rows(connection: psycopg.Connection, blocks: int, most: int) -> int:
    """How many rows the views have, up to ``most`` of each. Tables of many blocks have more; those of few may, as well.

    A call that sent thousands of messages is one row of the table and thousands of the view.
    """
    if blocks > FEW_BLOCKS:
        return most
    views = SQL(" union all ").join(
        SQL("(select 1 from {} limit {})").format(Identifier("howdah", view), most) for view in VIEWS
    )
    row = connection.execute(SQL("select count(*) from ({}) v").format(views)).fetchone()
    assert row is not None
    return int(row[0])


def _jdbc(connection: psycopg.Connection) -> tuple[str, dict[str, str]]:
    """URL (without credentials) and properties by which JDBC reaches the server that this connection reached."""
    info = connection.info
    if info.host.startswith(("/", "@")) or not info.host:
        raise AuditError(f"Spark needs TCP, and this DSN reaches the server by the socket {info.host}: name a host")
    host = f"[{info.host}]" if ":" in info.host else info.host
    given = info.get_parameters()
    if lost := [name for name in _LOST if given.get(name)]:
        raise AuditError(f"Spark's JDBC driver has no {lost[0]}: leave it out of the DSN of an audit")
    if given.get("sslkey"):
        _check_key(Path(given["sslkey"]))
    properties = {name: given[name] for name in _PASSED_ON if given.get(name)}
    properties |= {"user": info.user, "password": info.password, "ApplicationName": "howdah audit"}
    return f"jdbc:postgresql://{host}:{info.port}/{quote(info.dbname, safe='')}", properties


def _check_key(path: Path) -> None:
    """Refuse a key in PEM, which libpq reads and JDBC does not; DER both do."""
    try:
        with path.open("rb") as file:
            is_pem = b"-----BEGIN" in file.read(4096)
    except OSError as error:
        raise AuditError(f"cannot read sslkey {path}: {error.strerror}") from error
    if is_pem:
        raise AuditError(
            f"Spark's JDBC driver reads no key in PEM: name {path} in DER, which libpq reads too"
            f" (openssl pkcs8 -topk8 -nocrypt -in {path} -outform DER -out {path.with_suffix('.pk8')})"
        )
