"""The three tables of ActiveMQ's JDBC store: whether they are there, and may be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.rows import dict_row

from ...engine.errors import HowdahError

#: Columns that ActiveMQ 5.8 and later have. An earlier version's table gets the missing ones when a later one starts.
TABLES = {
    "activemq_msgs": ("id", "container", "msgid_prod", "msgid_seq", "expiration", "msg", "priority", "xid"),
    "activemq_acks": ("container", "sub_dest", "client_id", "sub_name", "selector", "last_acked_id", "priority", "xid"),
    "activemq_lock": ("id", "time", "broker_name"),
}


def check(db: psycopg.Connection, tables: Mapping[str, str]) -> None:
    """Look at the tables, which have these names. Raises HowdahError if one is not as expected, or not to be read."""
    found: dict[str, Mapping[str, Any]] = {}
    with db.cursor(row_factory=dict_row) as cursor:
        cursor.execute(
            "select t.name, c.relkind in ('r', 'p') as is_table,"
            " has_table_privilege(c.oid, 'select') or t.name ~ 'lock$' as is_readable,"
            " coalesce(array_agg(a.attname::text), '{}') as columns"
            " from unnest(%s::text[]) t(name) join pg_class c on c.oid = to_regclass(t.name)"
            " left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
            " group by 1, 2, 3",
            (list(tables.values()),),
        )
        for row in cursor:
            found[row["name"]] = row
    for name, columns in zip(tables.values(), TABLES.values(), strict=True):
        if name not in found or not found[name]["is_table"]:
            raise HowdahError(
                f"there is no table {name.upper()}: this is no database of ActiveMQ's JDBC store",
                "Name its database with --from, its schema with options=-csearch_path=…, its tablePrefix with"
                " --prefix.",
            )
        if not found[name]["is_readable"]:
            raise HowdahError(
                f"role {db.info.user} may not read table {name.upper()}",
                "Grant SELECT on it and on its two neighbours to the role of --from.",
            )
        for missing in sorted(set(columns) - set(found[name]["columns"])):
            raise HowdahError(
                f"table {name.upper()} has no column {missing.upper()}: another version of ActiveMQ wrote it",
                "Start ActiveMQ 5.8 or later on it once: that adds the columns.",
            )
