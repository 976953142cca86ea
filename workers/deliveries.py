"""Deliver each queue of an app over one connection, as its handlers were registered; tell whether a queue is empty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import psycopg

from ..engine import calls
from ..engine.database.runner import run
from ..engine.database.waiting import Idle
from .app import App
from .delivery import Delivery
from .endpoint import Endpoint, EndpointDelivery
from .home import Home
from .in_hand import Hands
from .recorder import Record
from .subscriptions import ListenedSubscriptionDelivery, Subscriber, SubscriptionDelivery
from .time_limits import Limits


def deliveries_of(
    app: App,
    endpoints: Mapping[str, Endpoint],
    subscribers: Mapping[str, Subscriber],
    *,
    worker: str,
    hands: Hands,
    slot: int,
    record: Record,
    stopping: Callable[[], bool] = lambda: False,
    idle: Idle | None = None,
    limits: Limits | None = None,
    home: Home | None = None,
) -> list[Delivery]:
    """Make one for each queue, in the order of registration. The process shares endpoints and subscribers."""
    made: list[Delivery] = []
    for index, binding in enumerate(app.bindings.values()):
        kind: Callable[..., Delivery] = Delivery
        endpoint, subscriber = endpoints.get(binding.queue), subscribers.get(binding.queue)
        if endpoint is not None and subscriber is not None:
            kind = partial(ListenedSubscriptionDelivery, subscriber, endpoint)
        elif endpoint is not None:
            kind = partial(EndpointDelivery, endpoint)
        elif subscriber is not None:
            kind = partial(SubscriptionDelivery, subscriber)
        made.append(
            kind(
                binding,
                index,
                worker=worker,
                hands=hands,
                slot=slot,
                record=record,
                stopping=stopping,
                idle=idle,
                limits=limits,
                home=home,
            )
        )
    return made


def is_empty(connection: psycopg.Connection[Any], queue: str) -> bool:
    """Whether nothing is ready in a queue or in hand. An empty receive does not say so: it looks only at a part.

    Parked messages do not count. Raises HowdahError if the log-in may not browse.
    """
    with connection.transaction():
        return not run(connection, calls.browse(queue, 1))
