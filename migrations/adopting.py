"""Take over the queues of a real pgmq, in one transaction: messages, archives, bindings, numbers."""

from __future__ import annotations

from psycopg import sql
from sqlalchemy import Connection, text

from ..procedures import facade_owner, identifier
from .dropping import nothing_else
from .facades import DriverDatabase, add, ready
from .roles import MigrationError

ASIDE = "pgmq_before_howdah"
"""What the schema is called while its rows are read. It is gone at the end of the transaction."""

_OWN = ("meta", "topic_bindings", "notify_insert_throttle")
# Names that differ in case have one table. pgmq forgets a row of meta if its queue was dropped by another such name.
_QUEUES = """
select distinct on (lower(queue_name)) queue_name::text, is_partitioned, is_unlogged from pgmq.meta
where to_regclass(format('pgmq.%I', 'q_' || lower(queue_name))) is not null order by lower(queue_name), created_at"""
_TABLES = """
select c.relname::text from pg_class c
where c.relnamespace = 'pgmq'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
order by 1"""

# Large bodies lie apart, as in a send. A message that nobody has read and that is visible is ready; others wait.
_ADOPT = """
with place as (
    select d.id, d.main_rank, d.journal_level from howdah.destinations d where d.name = {queue} and d.dropped_at is null
), stored as materialized (
    select m.msg_id, m.msg_id * 1000000 + p.id as message_id, p.id, p.main_rank, m.read_ct,
        pgmq._readable(m.enqueued_at) as enqueued_at, pgmq._readable(m.vt) as vt,
        {last_read_at} as last_read_at, {headers} as headers,
        case when m.message is null then 'application/x-sql-null' else 'application/json' end as content_type,
        convert_to(coalesce(m.message::text, ''), 'UTF8') as body
    from {aside}.{table} m cross join place p
), apart as (
    select howdah._keep_body(s.message_id, s.body) from stored s where howdah._is_large(octet_length(s.body))
), ready as (
    insert into howdah.msgs (seq, message_id, sent_at, destination_id, rank, stage, is_text, content_type, body,
        headers)
    select s.msg_id, s.message_id, s.enqueued_at, s.id, s.main_rank, 0, true, s.content_type,
        case when not howdah._is_large(octet_length(s.body)) then s.body end, s.headers
    from stored s where s.read_ct = 0 and s.vt <= howdah.now()
), parked as (
    insert into howdah.parked (seq, message_id, sent_at, destination_id, rank, stage, is_text, content_type, body,
        headers, due_at, parked_reason, reads, last_read_at)
    select s.msg_id, s.message_id, s.enqueued_at, s.id, s.main_rank, 0, true, s.content_type,
        case when not howdah._is_large(octet_length(s.body)) then s.body end, s.headers, s.vt,
        case when s.read_ct > 0 then 'lease' else 'delay' end, nullif(s.read_ct, 0), s.last_read_at
    from stored s where not (s.read_ct = 0 and s.vt <= howdah.now())
    returning howdah.parked.message_id
)
select (select count(*) from stored), (select count(*) from apart), (select count(*) from parked)"""
_POSITIONS = """
select setval(d.positions, greatest(1, l.last)), howdah._open_lane(d.id, d.main_rank, 0),
    case when l.first > 1 then setval(d.head, l.first - 1) end
from howdah.destinations d cross join (
    select greatest(coalesce((select max(m.msg_id) from {aside}.{table} m), 0),
            coalesce(pg_sequence_last_value(pg_get_serial_sequence({relation}, 'msg_id')::regclass), 0)) as last,
        coalesce((select min(m.msg_id) from {aside}.{table} m), 0) as first) l
where d.name = {queue} and d.dropped_at is null and l.last > 0"""
_ARCHIVE = """
insert into howdah.kept_messages (message_id, kept_at, kept_until, sent_at, visible_at, last_read_at, destination_id,
    delivery_count, stage, priority, reliability, nonpersistent, is_text, content_type, body, headers)
select m.msg_id * 1000000 + d.id, pgmq._readable(m.archived_at), 'infinity', pgmq._readable(m.enqueued_at),
    pgmq._readable(m.vt), {last_read_at}, d.id, m.read_ct, 0,
    d.default_priority, 4, false, true,
    case when m.message is null then 'application/x-sql-null' else 'application/json' end,
    convert_to(coalesce(m.message::text, ''), 'UTF8'), {headers}
from {aside}.{archive} m cross join howdah.destinations d where d.name = {queue} and d.dropped_at is null"""


def adopt(connection: Connection) -> dict[str, int]:
    """Install the facade of pgmq in place of a real pgmq, and take its queues over. Returns the messages of each.

    Raises MigrationError if there is no real pgmq, or if the role may not drop it. It also does if something else
    uses its tables or schema, or if a queue of Howdah has the name of one. Nothing has been changed then, since it all
    is the caller's transaction.
    """
    database, roles = ready(connection)
    if facade_owner(database, "pgmq") != "other" or not database.run(
        "select to_regclass('pgmq.meta') where to_regclass('pgmq.meta') is not null"
    ):
        raise MigrationError(
            "there is no pgmq here that could be adopted. howdah facade install pgmq makes the facade."
        )
    _check_may_drop(database)
    # First, so that a queue that is made meanwhile is either there, or is made in vain.
    database.run("lock table pgmq.meta in access exclusive mode")
    queues = database.run(_QUEUES)
    for name, *_ in queues:
        if database.run(
            _filled("select 1 from howdah.destinations where name = {n} and dropped_at is null", n=str(name).lower())
        ):
            raise MigrationError(f"Howdah has a queue {str(name).lower()!r} already. Drop or rename one of the two.")
    tables = [str(table) for (table,) in database.run(_TABLES)]
    known = {*_OWN, *(f"{kind}_{name}".lower() for name, *_ in queues for kind in "qa")}
    if strange := [table for table in tables if table not in known]:
        raise MigrationError(
            f"the schema pgmq has {', '.join(strange)}, which no queue has, and which would be dropped with it. Move"
            " what you want to keep to another schema, drop the rest, and run this command again."
        )
    for table in tables:
        database.run(sql.SQL("lock table pgmq.{} in access exclusive mode").format(sql.Identifier(table)).as_string())
    database.run(f"alter schema pgmq rename to {ASIDE}")
    add(connection, "pgmq")
    connection.execute(text("reset role"))
    owner = identifier(roles.owner)
    database.run(
        f"grant usage on schema {ASIDE} to {owner}; grant select on all tables in schema {ASIDE} to {owner};"
        f" grant select on all sequences in schema {ASIDE} to {owner}"
    )
    for name, partitioned, unlogged in queues:
        maker = "create_unlogged" if unlogged else "create_partitioned" if partitioned else "create"
        database.run(_filled(f"select pgmq.{maker}({{n}})", n=str(name)))
    connection.execute(text(f"set local role {owner}"))
    moved = {str(name): _take_over(database, str(name)) for name, *_ in queues}
    _take_bindings(database)
    connection.execute(text("reset role"))
    with nothing_else(database, ASIDE):
        database.run("drop extension if exists pgmq cascade")
        database.run(f"drop schema if exists {ASIDE} cascade")
    return moved


def _check_may_drop(database: DriverDatabase) -> None:
    rows = database.run(
        "select pg_get_userbyid(o.owner)::text from (select n.nspowner as owner from pg_namespace n where n.nspname ="
        " 'pgmq' union select e.extowner from pg_extension e where e.extname = 'pgmq' union select c.relowner from"
        " pg_class c where c.relnamespace = 'pgmq'::regnamespace and c.relkind in ('r', 'p')) o"
        " where not pg_has_role(current_user, o.owner, 'USAGE')"
    )
    if rows:
        raise MigrationError(f"pgmq belongs to {rows[0][0]}, as whom you may not act. Let that role run this command.")


def _take_over(database: DriverDatabase, name: str) -> int:
    table, archive = f"q_{name}".lower(), f"a_{name}".lower()
    columns = {
        str(column)
        for (column,) in database.run(
            _filled(
                "select attname::text from pg_attribute where attrelid = to_regclass({n}) and attnum > 0"
                " and not attisdropped",
                n=f'{ASIDE}."{table}"',
            )
        )
    }
    parts = {
        "aside": sql.Identifier(ASIDE),
        "table": sql.Identifier(table),
        "archive": sql.Identifier(archive),
        "queue": sql.Literal(name.lower()),
        "relation": sql.Literal(f'{ASIDE}."{table}"'),
        # columns that older versions of pgmq do not have
        "last_read_at": sql.SQL("m.last_read_at" if "last_read_at" in columns else "null::timestamptz"),
        "headers": sql.SQL("pgmq._stored_headers(m.headers)" if "headers" in columns else "null::jsonb"),
    }
    (counted,) = database.run(sql.SQL(_ADOPT).format(**parts).as_string())
    database.run(sql.SQL(_POSITIONS).format(**parts).as_string())
    database.run(sql.SQL(_ARCHIVE).format(**parts).as_string())
    return int(str(counted[0]))


def _take_bindings(database: DriverDatabase) -> None:
    for table, columns in (
        ("topic_bindings", "pattern, queue_name, bound_at"),
        ("notify_insert_throttle", "queue_name, throttle_interval_ms, last_notified_at"),
    ):
        if database.run(f"select 1 where to_regclass('{ASIDE}.{table}') is not null"):
            database.run(f"insert into pgmq.{table} ({columns}) select {columns} from {ASIDE}.{table}")
    database.run("select nextval('pgmq.notifying') from pgmq.notify_insert_throttle limit 1")


def _filled(query: str, **values: str) -> str:
    return sql.SQL(query).format(**{name: sql.Literal(value) for name, value in values.items()}).as_string()
