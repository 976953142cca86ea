"""A message as a consumer holds it: one row of the server's answer, with fields decoded on demand.

Most handlers look at few fields. So JSON and times, which are expensive to decode, are decoded on demand. Times
come as the server's own count of microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from operator import itemgetter
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.numeric import Int8BinaryLoader

from .typed_map import TypedMap, TypedStream

#: The columns selected from ``howdah.message``, in the order in which Message's fields read them.
COLUMNS = (
    "message_id, queue, body, bytes, content_type, headers::text, priority, correlation_id, reply_to, message_type,"
    " conversation_id, delivery_mode, sent_at, expires_at, delivery_count, redelivered,"
    ' "position", stage, origin_queue,'
    " dead_reason, dead_at, reliability"
)

#: Messages of this level are consumed when they are handed over, whatever the handler then does.
BEST_EFFORT = "BEST_EFFORT_NONPERSISTENT"

#: From when PostgreSQL counts microseconds, and the counts that mean infinity.
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_ENDLESS = {
    2**63 - 1: datetime.max.replace(tzinfo=UTC),
    -(2**63): datetime.min.replace(tzinfo=UTC),
}


class Message:
    """One delivered or browsed message; the fields are those of the SQL type ``howdah.message``. Times are in UTC."""

    __slots__ = ("_headers", "_row")

    _row: Sequence[Any]
    _headers: dict[str, Any]

    def __init__(self, row: Sequence[Any]) -> None:
        """Make it from a row of COLUMNS, fetched as ``as_messages`` says."""
        self._row = row

    @property
    def message_id(self) -> int:
        """Identity of the message for its whole life."""
        return self._row[0]  # type: ignore[no-any-return]

    @property
    def queue(self) -> str:
        """Name of the queue it was received from."""
        return self._row[1]  # type: ignore[no-any-return]

    @property
    def body(self) -> str | bytes:
        """str for text and JSON, bytes for everything else: exactly what was sent."""
        text = self._row[2]
        return self._row[3] if text is None else text  # type: ignore[no-any-return]

    @property
    def content_type(self) -> str:
        """MIME type of the body."""
        return self._row[4]  # type: ignore[no-any-return]

    @property
    def headers(self) -> dict[str, Any]:
        """Application properties. An integer of more digits than Python takes is a Decimal."""
        try:
            return self._headers
        except AttributeError:
            text = self._row[5]
            self._headers = {} if text is None else _parsed(text)
            return self._headers

    @property
    def priority(self) -> int:
        """0 to 9."""
        return self._row[6]  # type: ignore[no-any-return]

    @property
    def correlation_id(self) -> str | None:
        """The correlation id that the sender set."""
        return self._row[7]  # type: ignore[no-any-return]

    @property
    def reply_to(self) -> str | None:
        """The queue where the sender waits for an answer."""
        return self._row[8]  # type: ignore[no-any-return]

    @property
    def message_type(self) -> str | None:
        """The sender's name for its type, by which handlers are chosen."""
        return self._row[9]  # type: ignore[no-any-return]

    @property
    def conversation_id(self) -> UUID | None:
        """The conversation that it belongs to."""
        return self._row[10]  # type: ignore[no-any-return]

    @property
    def delivery_mode(self) -> str:
        """ "persistent" or "non-persistent"."""
        return self._row[11]  # type: ignore[no-any-return]

    @property
    def sent_at(self) -> datetime:
        """When it was sent."""
        return _moment(self._row[12])

    @property
    def expires_at(self) -> datetime | None:
        """When it stops being delivered."""
        micros = self._row[13]
        return None if micros is None else _moment(micros)

    @property
    def delivery_count(self) -> int:
        """1 on the first delivery, one more with each recorded failure."""
        return self._row[14]  # type: ignore[no-any-return]

    @property
    def redelivery_count(self) -> int:
        """Number of failed deliveries: 0 on the first delivery."""
        return self.delivery_count - 1

    @property
    def redelivered(self) -> bool:
        """Whether a delivery of it has failed before."""
        return self._row[15]  # type: ignore[no-any-return]

    @property
    def position(self) -> int:
        """Position in the queue, among messages of its priority."""
        return self._row[16]  # type: ignore[no-any-return]

    @property
    def stage(self) -> int:
        """How often it was moved or replayed."""
        return self._row[17]  # type: ignore[no-any-return]

    @property
    def origin_queue(self) -> str | None:
        """The queue it came from, in an exception destination."""
        return self._row[18]  # type: ignore[no-any-return]

    @property
    def dead_reason(self) -> str | None:
        """Why it is in an exception destination."""
        return self._row[19]  # type: ignore[no-any-return]

    @property
    def dead_at(self) -> datetime | None:
        """When it came into the exception destination."""
        micros = self._row[20]
        return None if micros is None else _moment(micros)

    @property
    def reliability(self) -> str:
        """Its level of reliability, BEST_EFFORT_NONPERSISTENT to ASSURED_PERSISTENT."""
        return self._row[21]  # type: ignore[no-any-return]

    @property
    def data(self) -> Any:
        """Return the body, parsed if its content type says JSON. Raises ValueError if it is not JSON."""
        kind = self.content_type.split(";")[0].strip().lower()
        if kind == TypedMap.CONTENT_TYPE:
            return TypedMap.from_tagged(json.loads(self.body))
        if kind == TypedStream.CONTENT_TYPE:
            return TypedStream.from_tagged(json.loads(self.body))
        if kind == "application/json" or kind.endswith("+json"):
            return json.loads(self.body)
        return self.body

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name, decoded."""
        return {name: getattr(self, name) for name in FIELDS}

    def __repr__(self) -> str:
        return f"<Message {self.message_id} of {self.queue}, delivery {self.delivery_count}: {self.body[:40]!r}>"

    def __eq__(self, other: object) -> bool:
        return self._row == other._row if isinstance(other, Message) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._row)


#: Names of a message's fields, in the order of the SQL type.
FIELDS = tuple(
    name
    for name, value in vars(Message).items()
    if isinstance(value, property) and name not in ("data", "redelivery_count")
)


_PLACE: Callable[[Sequence[Any]], tuple[int, int, int, int]] = itemgetter(6, 17, 0, 16)


def place_of(message: Message) -> tuple[int, int, int, int]:
    """Return the message's priority, stage, number and position, in less time than reading each takes."""
    return _PLACE(message._row)


def _long_number(digits: str) -> int | Decimal:
    try:
        return int(digits)
    except ValueError:  # Python makes no int of more than 4300 digits; PostgreSQL's numbers are longer
        return Decimal(digits)


_decode_long = json.JSONDecoder(parse_int=_long_number).decode


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return _decode_long(text)


def _moment(micros: int) -> datetime:
    return _ENDLESS.get(micros) or _EPOCH + timedelta(microseconds=micros)


def as_messages(cursor: psycopg.Cursor[Any] | psycopg.AsyncCursor[Any]) -> None:
    """Make a cursor fetch rows of COLUMNS as messages: in the binary format, times as plain numbers."""
    cursor.format = psycopg.pq.Format.BINARY
    cursor.adapters.register_loader("timestamptz", Int8BinaryLoader)
    cursor.row_factory = _maker


def _maker(cursor: object) -> Callable[[Sequence[Any]], Any]:
    return Message
