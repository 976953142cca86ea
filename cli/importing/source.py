"""ActiveMQ's JDBC store: what lies in its three tables, in one snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import LiteralString

import psycopg
from psycopg import sql

from ...engine.errors import HowdahError
from .tables import TABLES, check

#: Rows that are fetched at a time, and their bytes: bodies may be large, and one row is fetched whatever it takes.
FETCHED, FETCHED_BYTES = 200, 16 * 1024 * 1024
#: Timeouts of the server that could end a pass, however long it lasts.
ENDINGS = ("idle_in_transaction_session_timeout", "transaction_timeout", "statement_timeout")


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
    """A durable subscription to one topic; a wildcard has one for each topic that matches.

    ``positions`` has the number of the last message that it has read. With prioritizedMessages there is one for each
    priority.
    """

    container: str
    pattern: str
    client_id: str
    name: str
    selector: str | None
    prepared: bool
    positions: Mapping[int, int]

    @property
    def prioritized(self) -> bool:
        """Whether the priority of a message says if it is read."""
        return len(self.positions) > 1

    def has_read(self, store_id: int, priority: int | None) -> bool:
        """Whether a message is read."""
        last = self.positions.get(priority) if self.prioritized and priority is not None else None
        return store_id <= (min(self.positions.values()) if last is None else last)


class Store:
    """The store of one broker. Everything is read in one snapshot."""

    def __init__(self, dsn: str, prefix: str = "") -> None:
        """Connect and look at the tables. Raises HowdahError if they are not there, or not as expected."""
        #: As ActiveMQ writes its names: without quotes.
        self._tables = {name: f"{prefix}{name}".lower() for name in TABLES}
        with ExitStack() as opened:
            self._locking = opened.enter_context(closing(psycopg.connect(dsn)))
            self._db = opened.enter_context(closing(psycopg.connect(dsn)))
            for connection in (self._locking, self._db):
                connection.execute(
                    "select set_config(name, '0', false) from pg_settings where name = any (%s)", (list(ENDINGS),)
                )
                connection.commit()
            #: When the snapshot was taken, in milliseconds since 1970.
            self.now = 0
            check(self._db, self._tables)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Let the broker start again."""
        self._opened.close()

    def keep_others_out(self) -> None:
        """Let no other pass read the store. Raises HowdahError if one does.

        With an older snapshot it would take back what a later pass brought.
        """
        locked = self._locking.execute(
            "select pg_try_advisory_xact_lock(hashtext('howdah import'), %s::regclass::oid::bigint::bit(32)::integer)",
            (self._tables["activemq_msgs"],),
        ).fetchone()
        if locked != (True,):
            raise HowdahError("another pass copies from this store", "Wait for its end.")

    def keep_brokers_out(self) -> None:
        """Let no broker have the store until the end. Raises HowdahError if one has it.

        A broker locks the row of ACTIVEMQ_LOCK, or has a lease there that has not run out.
        """
        try:
            rows = self._locking.execute(self._sql("select count(*) from {activemq_lock}")).fetchone()
            free = self._locking.execute(
                self._sql(
                    "select broker_name is not null and time > extract(epoch from clock_timestamp()) * 1000"
                    " from {activemq_lock} for update skip locked"
                )
            ).fetchall()
        except psycopg.errors.InsufficientPrivilege as error:
            raise HowdahError(
                f"the final pass locks ACTIVEMQ_LOCK, to keep brokers out: {error.diag.message_primary}",
                "Grant UPDATE on it to the role of --from.",
            ) from error
        assert rows is not None
        if len(free) < rows[0] or any(leased for (leased,) in free):
            raise HowdahError("a broker has the store", "Stop it before the final pass.")

    def begin(self) -> str:
        """Take the snapshot. Returns the identity of the store: cluster, database, schema and prefix."""
        self._db.rollback()
        self._db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        self._db.read_only = True
        found = self._db.execute(
            "select concat_ws('/', 'activemq', case when has_function_privilege('pg_control_system()', 'execute')"
            " then (select system_identifier from pg_control_system()) end, current_database(),"
            " (select relnamespace::regnamespace from pg_class where oid = %(table)s::text::regclass),"
            " nullif(replace(%(table)s::text, 'activemq_msgs', ''), '')),"
            " (extract(epoch from now()) * 1000)::bigint",
            {"table": self._tables["activemq_msgs"]},
        ).fetchone()
        assert found is not None
        identity: str = found[0]
        self.now = found[1]
        return identity

    def count(self) -> int:
        """Return the number of messages."""
        found = self._db.execute(self._sql("select count(*) from {activemq_msgs}")).fetchone()
        assert found is not None
        return int(found[0])

    def queues(self) -> Iterator[Row]:
        """Return the messages of queues, each queue's in its order."""
        return self._rows("left(container, 8) = 'queue://' order by container, id")

    def topics(self, containers: Iterable[str], *, together: bool) -> Iterator[Row]:
        """Return the messages of topics in the order of publishing: of all topics together, or each topic's."""
        order: LiteralString = "id" if together else "container, id"
        return self._rows("container = any (%s) order by " + order, list(containers))

    def containers(self) -> dict[str, int]:
        """Return the queues and topics that have messages, and how many."""
        rows = self._db.execute(self._sql("select container, count(*) from {activemq_msgs} group by 1 order by 1"))
        return dict(rows.fetchall())

    def subscriptions(self) -> list[Subscription]:
        """Return the durable subscriptions.

        ActiveMQ also keeps a row for each queue of a virtual topic, which is no subscription.
        """
        rows = self._db.execute(
            self._sql(
                "select container, coalesce(sub_dest, container), client_id, sub_name, min(selector),"
                " bool_or(xid is not null), array_agg(priority), array_agg(coalesce(last_acked_id, 0))"
                " from {activemq_acks}"
                " where left(container, 8) = 'topic://' group by 1, 2, 3, 4 order by 1, 3, 4"
            )
        )
        return [
            Subscription(container, pattern, client, name, selector, prepared, dict(zip(priorities, last, strict=True)))
            for container, pattern, client, name, selector, prepared, priorities, last in rows
        ]

    def priorities(self, numbers: Sequence[int]) -> dict[int, int]:
        """Return the priorities of messages that are there, by their numbers."""
        query = self._sql("select id, coalesce(priority, 0) from {activemq_msgs} where id = any (%s)")
        return dict(self._db.execute(query, (list(numbers),)).fetchall())

    def gone(self, container: str, keys: Sequence[str]) -> list[str]:
        """Return those of the keys whose messages are no longer there, or may be no longer.

        A prepared transaction may have received one. If it is rolled back, a later pass brings the message again.
        """
        parts = [key.rpartition(":") for key in keys]
        rows = self._db.execute(
            self._sql(
                "select u.n from unnest(%s::text[], %s::bigint[]) with ordinality u(producer, number, n)"
                " where not exists (select from {activemq_msgs} m where m.container = %s"
                " and m.msgid_prod = u.producer and m.msgid_seq = u.number and m.xid is null)"
            ),
            ([part[0] for part in parts], [int(part[2]) for part in parts], container),
        )
        return [keys[number - 1] for (number,) in rows]

    def _rows(self, which: LiteralString, *values: object) -> Iterator[Row]:
        for numbers in self._parts(which, values):
            rows = self._db.execute(
                self._sql(
                    "select id, container, msgid_prod || ':' || msgid_seq, coalesce(expiration, 0), msg,"
                    " xid is not null from {activemq_msgs} where id = any (%s) order by array_position(%s, id)"
                ),
                (numbers, numbers),
            )
            for row in rows:
                yield Row(*row)

    def _parts(self, which: LiteralString, values: Sequence[object]) -> Iterator[list[int]]:
        """The numbers of the rows, as many at a time as are fetched."""
        part: list[int] = []
        held = 0
        with self._db.cursor("howdah_import") as cursor:
            cursor.itersize = 5000
            query = self._sql("select id, coalesce(octet_length(msg), 0) from {activemq_msgs} where " + which)
            cursor.execute(query, values or None)
            for number, length in cursor:
                if part and (len(part) == FETCHED or held + length > FETCHED_BYTES):
                    yield part
                    part, held = [], 0
                part.append(number)
                held += length
        if part:
            yield part

    def _sql(self, text: LiteralString) -> sql.Composed:
        return sql.SQL(text).format(**{name: sql.Identifier(table) for name, table in self._tables.items()})
