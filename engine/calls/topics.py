"""Subscriptions: what is subscribed to, and the calls that sessions make for theirs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .admin_options import SubscriptionOptions
from .bodies import to_json
from .call import Call, scalar


def subscription_name(topic: str, name: str, client_id: str = "", *, durable: bool = True) -> str:
    """The name of a subscription where a queue is expected: ``subscribe`` returns it."""
    return f"{topic}:{client_id}:{'' if durable else '~'}{name}"


@dataclass(frozen=True)
class Subscription:
    """What somebody subscribes to: the arguments of howdah.subscribe."""

    topic: str
    name: str | None
    client_id: str = ""
    selector: str | None = None
    shared: bool = False
    durable: bool = True
    no_local: bool = False
    since: datetime | None = None
    #: prioritized, and the poison policy as of create_queue.
    options: SubscriptionOptions = field(default_factory=SubscriptionOptions)

    def call(self) -> Call[str]:
        """Subscribe. The result is the subscription's name where a queue is expected."""
        arguments: dict[str, tuple[str, Any]] = {
            "topic": ("text", self.topic),
            "name": ("text", self.name),
            "client_id": ("text", self.client_id),
            "selector": ("text", self.selector),
            "shared": ("boolean", self.shared),
            "durable": ("boolean", self.durable),
            "no_local": ("boolean", self.no_local),
            "since": ("timestamptz", moment(self.since)),
            "options": ("jsonb", to_json(self.options)),
        }
        return scalar("subscribe", **arguments).then(str)


def moment(moment: datetime | None) -> datetime | str | None:
    """Return a time for SQL: datetime.min and datetime.max are the beginning and the end of time in any zone."""
    ends = {datetime.min: "-infinity", datetime.max: "infinity"}
    return moment if moment is None else ends.get(moment.replace(tzinfo=None), moment)


def unsubscribe(subscription: str) -> Call[None]:
    """End a subscription."""
    return scalar("unsubscribe", subscription=("text", subscription)).then(lambda _: None)


def set_client_id(client_id: str | None) -> Call[None]:
    """Say under which client id the transaction publishes, for subscriptions with no_local."""
    return Call("select howdah.set_client_id(%s::text, true)", (client_id,), lambda _: None)
