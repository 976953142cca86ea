"""ActiveMQ's JDBC store: what lies in its three tables, in one snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
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
#: Rows that are fetched at a time: bodies may be large.
FETCHED = 200


@dataclass(frozen=True)
class Row:
    """A message as it lies in the store. ``key`` is its JMSMessageID, which the broker never gives twice."""

    store_id: int
    container: str
    key: str
    expiration: int
    data: bytes | None
    prepared: bool


@dataclass(frozen=True)
class Subscription:
    """A durable subscription to one topic; a wildcard has one for each topic that matches."""

    container: str
    pattern: str
    client_id: str
    name: str
    selector: str | None
    last_acked: int


class Store:
    """The store of one broker. Everything is read in one snapshot."""

    def __init__(self, dsn: str) -> None:
        """Connect and look at the tables. Raises HowdahError if they are not there, or not as expected."""
        with ExitStack() as opened:
            self._locking = opened.enter_context(closing(psycopg.connect(dsn)))
            self._db = opened.enter_context(closing(psycopg.connect(dsn)))
            #: When the snapshot was taken, in milliseconds since 1970.
            self.now = 0
            self._check()
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Let the broker start again."""
        self._opened.close()

    def is_running(self, *, hold: bool) -> bool:
        """Whether a broker has the store. If none has, hold keeps every broker out until the end.

        A broker locks the row of ACTIVEMQ_LOCK, or has a lease there that has not run out.
        """
        rows = self._locking.execute("select count(*) from activemq_lock").fetchone()
        free = self._locking.execute(
            "select broker_name is not null and time > extract(epoch from clock_timestamp()) * 1000"
            " from activemq_lock for update skip locked"
        ).fetchall()
        assert rows is not None
        if not hold:
            self._locking.rollback()
        return len(free) < rows[0] or any(leased for (leased,) in free)

    def begin(self) -> str:
        """Take the snapshot. Returns the identity of the store: cluster, database and schema."""
        self._db.rollback()
        self._db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._db.read_only = True
        found = self._db.execute(
            "select concat_ws('/', 'activemq', case when has_function_privilege('pg_control_system()', 'execute')"
            " then (select system_identifier from pg_control_system()) end, current_database(),"
            " (select relnamespace::regnamespace from pg_class where oid = 'activemq_msgs'::regclass)),"
            " (extract(epoch from now()) * 1000)::bigint"
        ).fetchone()
        assert found is not None
        identity: str = found[0]
        self.now = found[1]
        return identity

    def count(self) -> int:
        """Return the number of messages."""
        found = self._db.execute("select count(*) from activemq_msgs").fetchone()
        assert found is not None
        return int(found[0])

    def queues(self) -> Iterator[Row]:
        """Return the messages of queues, each queue's in its order."""
        return self._rows("left(container, 8) = 'queue://' order by container, id")

    def topics(self) -> Iterator[Row]:
        """Return the messages of topics, in the order in which they were published."""
        return self._rows("left(container, 8) = 'topic://' order by id")

    def containers(self) -> list[str]:
        """Return the queues and topics that have messages."""
        return [name for (name,) in self._db.execute("select distinct container from activemq_msgs order by 1")]

    def subscriptions(self) -> list[Subscription]:
        """Return the durable subscriptions. With priorities there may be several rows of one: the least counts."""
        rows = self._db.execute(
            "select container, coalesce(sub_dest, container), client_id, sub_name, min(selector), min(last_acked_id)"
            " from activemq_acks group by 1, 2, 3, 4 order by 1, 3, 4"
        )
        return [Subscription(*row) for row in rows]

    def gone(self, container: str, keys: Sequence[str]) -> list[str]:
        """Return those of the keys whose messages are no longer there."""
        parts = [key.rpartition(":") for key in keys]
        rows = self._db.execute(
            "select u.n from unnest(%s::text[], %s::bigint[]) with ordinality u(producer, number, n)"
            " where not exists (select from activemq_msgs m where m.container = %s and m.msgid_prod = u.producer"
            " and m.msgid_seq = u.number)",
            ([part[0] for part in parts], [int(part[2]) for part in parts], container),
        )
        return [keys[number - 1] for (number,) in rows]

    def _rows(self, which: str) -> Iterator[Row]:
        columns = "id, container, msgid_prod || ':' || msgid_seq, coalesce(expiration, 0), msg, xid is not null"
        with self._db.cursor("howdah_import") as cursor:
            cursor.itersize = FETCHED
            # The text is one of the two above.
            cursor.execute(f"select {columns} from activemq_msgs where {which}".encode())
            for row in cursor:
                yield Row(*row)

    def _check(self) -> None:
        found: dict[str, Mapping[str, Any]] = {}
        with self._db.cursor(row_factory=dict_row) as cursor:
            cursor.execute(
                "select t.name, c.relkind in ('r', 'p') as is_table, coalesce(array_agg(a.attname::text), '{}') as"
                " columns from unnest(%s::text[]) t(name) join pg_class c on c.oid = to_regclass(t.name)"
                " left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
                " group by 1, 2",
                (list(TABLES),),
            )
            for row in cursor:
                found[row["name"]] = row
        for name, columns in TABLES.items():
            if name not in found or not found[name]["is_table"]:
                raise HowdahError(
                    f"there is no table {name.upper()}: this is no database of ActiveMQ's JDBC store",
                    "Name its database with --from, and its schema with options=-csearch_path=….",
                )
            for missing in sorted(set(columns) - set(found[name]["columns"])):
                raise HowdahError(
                    f"table {name.upper()} has no column {missing.upper()}: another version of ActiveMQ wrote it",
                    "Start ActiveMQ 5.8 or later on it once: that adds the columns.",
                )
