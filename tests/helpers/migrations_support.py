"""What a migrated database holds: its tables and its procedures."""

from typing import Any

import psycopg
from support import Db


def open_db(dsn: str) -> Db:
    return psycopg.connect(dsn, autocommit=True)


def dictionary(db: Db) -> dict[str, list[tuple[Any, ...]]]:
    """The tables as the catalog describes them, partitions and Alembic's own left out."""
    tables = (
        "(select * from pg_class where relnamespace = 'howdah'::regnamespace and relkind in ('r', 'p')"
        " and not relispartition and relname <> 'alembic_version') c"
    )
    queries = {
        "tables": "select relname::text, relkind::text, relpersistence::text, reloptions, pg_get_partkeydef(c.oid),"
        f" obj_description(c.oid, 'pg_class') from {tables} order by 1",
        "columns": "select relname::text, attname::text, format_type(atttypid, atttypmod),"
        " attnotnull, attidentity::text,"
        " attstorage::text, attcompression::text, attcollation::regcollation::text, pg_get_expr(adbin, adrelid),"
        " col_description(c.oid, attnum)"
        f" from {tables} join pg_attribute a on attrelid = c.oid and attnum > 0"
        " left join pg_attrdef d on adrelid = c.oid and adnum = attnum order by relname, attnum",
        "constraints": "select relname::text, conname::text, pg_get_constraintdef(k.oid)"
        f" from {tables} join pg_constraint k on conrelid = c.oid where contype <> 'n' order by 1, 2",
        "indexes": f"select relname::text, pg_get_indexdef(indexrelid) from {tables} join pg_index on indrelid = c.oid"
        " order by 1, 2",
        "sequences": "select sequencename::text, data_type::text, cache_size, increment_by from pg_sequences"
        " where schemaname = 'howdah' and sequencename !~ '^(head|search|positions|waiting|alive|room|tickets)_'"
        " order by 1",
        "default partition": "select pg_get_expr(relpartbound, oid), obj_description(oid, 'pg_class') from pg_class"
        " where oid = 'howdah.journal_default'::regclass",
        "types": "select relname::text, attname::text, format_type(atttypid, atttypmod),"
        " obj_description(reltype, 'pg_type')"
        " from pg_class c join pg_attribute on attrelid = c.oid"
        " where relnamespace = 'howdah'::regnamespace and relkind = 'c'"
        " order by relname, attnum",
    }
    return {name: db.execute(query.encode()).fetchall() for name, query in queries.items()}


def procedures(db: Db) -> list[tuple[Any, ...]]:
    """Every function: its text, settings, rights and comment."""
    return db.execute(
        "select p.oid::regprocedure::text, prosrc, proconfig, prosecdef, proacl::text,"
        " obj_description(p.oid, 'pg_proc')"
        " from pg_proc p where pronamespace = 'howdah'::regnamespace order by 1"
    ).fetchall()
