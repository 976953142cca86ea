"""A stored message as howdah.import_messages takes it, or the reason why it stays."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...engine.errors import BadArgument
from .openwire import OpenWireError, StoredMessage, decode
from .openwire.bodies import as_json, body
from .source import Row, Subscription

EXPIRED = "expired"
PREPARED = "in a prepared transaction of the broker: commit it there or roll it back"
#: Where the id and time of a message stand here: it gets new ones.
MESSAGE_ID, TIMESTAMP, REPLY_TO = "AMQ_MESSAGE_ID", "AMQ_TIMESTAMP", "AMQ_REPLY_TO"
#: Where a dead message comes from, and what a message was sent to that the broker passed on.
ORIGINAL = "AMQ_ORIGINAL_DESTINATION"
_NAME = re.compile(r"[A-Za-z0-9._/-]{1,242}")
_PATTERN = re.compile(r"[A-Za-z0-9._/*>-]{1,242}")
_SUBSCRIPTION = re.compile(r"[A-Za-z0-9._-]{1,200}:[A-Za-z0-9._-]{1,200}")


class StaysError(Exception):
    """A message, queue or subscription cannot come over; the text says why."""


class Names:
    """What queues, topics and subscriptions are called here. The first two share one space of names here."""

    def __init__(self, given: Mapping[str, str]) -> None:
        """given: names here by names there. Those of queues may have queue://, others topic:// or subscription://."""
        self._given = {name if "://" in name else f"queue://{name}": here for name, here in given.items()}

    def check(self, containers: Iterable[str], subscriptions: Sequence[Subscription]) -> None:
        """Raises BadArgument if two queues, topics or subscriptions there would have one name here.

        A pass takes back what is no longer there, and passes what is read: it would take the one for the other.
        """
        by_name: dict[tuple[str, str], str] = {}

        def note(kind: str, name: str, there: str) -> None:
            if (other := by_name.setdefault((kind, name), there)) != there:
                raise BadArgument(
                    f"{other} and {there} would both be {name} here",
                    "Give each a name of its own by --map. A bridge or a move can bring them together afterwards.",
                )

        # A topic without messages may still have subscriptions.
        for container in sorted({*containers, *(each.container for each in subscriptions)}):
            note(container.partition("://")[0], self._name(container), container)
        for each in subscriptions:
            there = f"{each.client_id}:{each.name}"
            here = self._given.get(f"subscription://{there}", there)
            note("subscription", f"{self._name(each.container)}:{here}", f"{each.container} {there}")

    def _name(self, container: str) -> str:
        return self._given.get(container, container.partition("://")[2])

    def here(self, container: str) -> str:
        """Return the name here. Raises StaysError if it cannot be one."""
        name = self._name(container)
        if not _NAME.fullmatch(name):
            raise StaysError(f"a name here has only A-Z a-z 0-9 . _ - /: use --map {container}=NAME")
        return name

    def pattern(self, container: str) -> str:
        """Return a wildcard as it is here. Raises StaysError if it cannot be one."""
        name = container.partition("://")[2]
        if not _PATTERN.fullmatch(name):
            raise StaysError("a wildcard here has only A-Z a-z 0-9 . _ - / * >")
        return name

    def subscription(self, client_id: str, name: str) -> tuple[str, str]:
        """Return the client id and the name here. Raises StaysError if they cannot be ones."""
        there = f"subscription://{client_id}:{name}"
        here = self._given.get(there, f"{client_id}:{name}")
        if not _SUBSCRIPTION.fullmatch(here):
            raise StaysError(
                f"a client id and a name here have only A-Z a-z 0-9 . _ -: use --map '{there}=CLIENT:NAME'"
            )
        client_id, _, name = here.partition(":")
        return client_id, name

    def there(self, name: str) -> str:
        """Return what a queue is called there."""
        return next(
            (there[8:] for there, here in self._given.items() if here == name and there[:8] == "queue://"), name
        )


def convert(row: Row, names: Names, now: int) -> dict[str, Any]:
    """Return the message. Raises StaysError. ``now`` is in milliseconds since 1970."""
    if row.prepared:
        raise StaysError(PREPARED)
    if 0 < row.expiration <= now:
        raise StaysError(EXPIRED)
    if row.data is None:
        raise StaysError("unreadable: the row has no MSG")
    try:
        message = decode(row.data)
        data, is_text, content_type = body(message)
    except OpenWireError as error:
        raise StaysError(f"unreadable: {error}") from error
    reply_to, headers = _reply_to(message.reply_to, names), _headers(message)
    if message.reply_to and reply_to is None:
        headers[REPLY_TO] = message.reply_to
    found: dict[str, Any] = {
        "key": row.key,
        "message_id": row.store_id,
        "text" if is_text else "bytes": data.decode() if is_text else base64.b64encode(data).decode(),
        "content_type": content_type,
        "headers": headers,
        "priority": min(max(message.priority, 0), 9),
        "correlation_id": message.correlation_id,
        "message_type": message.message_type,
        "reply_to": reply_to,
    }
    if row.expiration > 0:
        found["expires_ms"] = row.expiration
    return found


def size(message: Mapping[str, Any]) -> int:
    """Return about how many bytes a message takes."""
    return len(message.get("text") or message.get("bytes") or "") + 1000


def _headers(message: StoredMessage) -> dict[str, Any]:
    headers = {name: as_json(value) for name, value in message.properties.items()}
    headers |= {MESSAGE_ID: message.message_id, TIMESTAMP: message.timestamp}
    if message.group_id is not None:
        headers |= {"JMSXGroupID": message.group_id, "JMSXGroupSeq": message.group_sequence}
    if message.original is not None:
        headers[ORIGINAL] = message.original
    if message.user_id is not None:
        headers["JMSXUserID"] = message.user_id
    return headers


def _reply_to(container: str | None, names: Names) -> str | None:
    """Return the name for answers; None for temporary queues, whose connections are with the broker."""
    if container is None or container.startswith("temp-"):
        return None
    try:
        return names.here(container)
    except StaysError:
        return None
