"""JMSX properties that the engine stamps in the statement that sends or receives, for factories that ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stamps:
    """Which properties messages get: the first three when they are sent, the others when they are received."""

    user_id: bool = False
    app_id: bool = False
    producer_txid: bool = False
    consumer_txid: bool = False
    rcv_timestamp: bool = False

    @property
    def on_send(self) -> str:
        """The arguments of ``howdah.stamp_headers`` behind the headers. Empty: nothing is stamped."""
        wanted = {"user_id": self.user_id, "app_id": self.app_id, "producer_txid": self.producer_txid}
        return "".join(f", {name} => true" for name, given in wanted.items() if given)

    def stamped(self, invocation: str, function: str = "stamp_headers", kind: str = "jsonb") -> str:
        """Return a send whose argument ``headers`` is stamped on the way."""
        plain = f'"headers" => %s::{kind}'
        return invocation.replace(plain, f'"headers" => howdah.{function}(%s::{kind}{self.on_send})', 1)

    def received(self, sql: str) -> str:
        """A receive whose messages are stamped."""
        given = []
        if self.consumer_txid:
            given.append("'JMSXConsumerTXID', pg_catalog.pg_current_xact_id()::text")
        if self.rcv_timestamp:
            given.append("'JMSXRcvTimestamp', (extract(epoch from howdah.now()) * 1000)::bigint")
        if not given:
            return sql
        stamps = f"pg_catalog.jsonb_build_object({', '.join(given)})"
        return sql.replace("headers::text", f"(coalesce(headers, '{{}}') || {stamps})::text", 1)


NO_STAMPS = Stamps()


class StampedHeaders(dict[str, Any]):
    """Headers of a message that gets stamps as well."""

    def __init__(self, headers: Mapping[str, Any] | None, stamps: Stamps) -> None:
        super().__init__(headers or {})
        self.stamps = stamps


class StampedBatch(list[Mapping[str, Any] | None]):
    """Headers of messages that get stamps as well. Empty: no message has headers of its own."""

    def __init__(self, headers: Sequence[Mapping[str, Any] | None] | None, stamps: Stamps) -> None:
        super().__init__(headers or ())
        self.stamps = stamps


@dataclass(frozen=True)
class Every:
    """What each message of a stream or a load gets, over what it has."""

    priority: int | None = None
    stamps: Stamps = NO_STAMPS
    #: False: for a transaction that will be prepared.
    notify: bool = True

    @property
    def options(self) -> dict[str, Any]:
        """As options of ``calls.send_many``."""
        found: dict[str, Any] = {}
        if self.priority is not None:
            found["priorities"] = self.priority
        if self.stamps.on_send:
            found["headers"] = StampedBatch(None, self.stamps)
        if not self.notify:
            found["notify"] = False
        return found
