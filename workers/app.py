"""Register an application's functions, plain or async, for a queue or for a type of message in it."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Any, Unpack, cast

from ..engine import Body, Call, HowdahError, Message
from ..engine.calls.admin_options import ListenerOptions, SubscriptionOptions
from ..engine.calls.options import ScheduleOptions
from ..engine.calls.schedules import schedule
from ..engine.calls.topics import Subscription, subscription_name
from ..engine.errors import BadArgument
from ..engine.handling.outcomes import Rule, Rules
from .asynchronous import runnable
from .transaction import Transaction


class AppError(HowdahError):
    """The application to run was not found, or is not an App."""


class UnknownMessageType(HowdahError):
    """No handler is registered for a message of this type in its queue."""


Handler = Callable[[Message, Transaction], Any]
"""Its result is the answer if it was registered with ``reply``. Otherwise the queue keeps it, if it keeps results. A
handler may be ``async def``."""
RUNNABLE = "A handler is a function of a message and a transaction, plain or async, without yield."


@dataclass(frozen=True)
class Listener:
    """The listener that a queue is received through, and the options to create it with if it is missing."""

    name: str
    options: ListenerOptions


@dataclass
class Binding:
    """The handlers of one queue, its batch size and its listener."""

    queue: str
    #: None: as many as can be handled in a tenth of a second.
    batch: int | None = None
    #: None: the queue is received directly.
    listener: Listener | None = None
    handlers: dict[str | None, Handler] = field(default_factory=dict)
    #: What becomes of messages, by the class of their handler's exception.
    rules: dict[str | None, Rules] = field(default_factory=dict)
    #: Seconds that a handler may take, where it has a limit of its own.
    time_limits: dict[str | None, float] = field(default_factory=dict)
    #: The subscription to make before receiving. None: there is none to make.
    subscription: Subscription | None = None

    def add(self, message_type: str | None, handler: Handler, rules: Rules, time_limit: float | None) -> None:
        """Add the handler of a type of message. Raises AppError for a second one."""
        if message_type in self.handlers:
            kind = "messages of any type" if message_type is None else f"message type {message_type!r}"
            raise AppError(f"queue {self.queue} has a handler for {kind} already")
        self.handlers[message_type], self.rules[message_type] = handler, rules
        if time_limit is not None:
            self.time_limits[message_type] = time_limit

    def receive(self, batch: int | None, listener: Listener | None) -> None:
        """Receive in batches or through the listener. Raises AppError if that contradicts another handler."""
        if listener is not None and self.listener not in (None, listener):
            raise AppError(f"queue {self.queue} has a listener already, or one with other options")
        self.listener = listener or self.listener
        if self.listener is not None and batch not in (None, 1):
            raise AppError(f"queue {self.queue} has a listener, so its batch must be 1, not {batch}")
        self.batch = 1 if self.listener is not None else batch or self.batch

    def handler_for(self, message: Message) -> Handler:
        """Return the handler of the message's type, or the queue's general one. Raises UnknownMessageType."""
        handler = self.handlers.get(message.message_type) or self.handlers.get(None)
        if handler is None:
            known = ", ".join(sorted(str(kind) for kind in self.handlers))
            raise UnknownMessageType(
                f"no handler for message type {message.message_type!r}", f"Registered are: {known}."
            )
        return handler

    def time_limit_for(self, message: Message) -> float | None:
        """Return the time limit of the message's handler."""
        return self.time_limits.get(message.message_type if message.message_type in self.handlers else None)

    def rules_for(self, message: Message) -> Rules | None:
        """Return the rules of the message's handler."""
        return self.rules.get(message.message_type if message.message_type in self.handlers else None)


class App:
    """Queues and their handlers."""

    def __init__(self, name: str = "app") -> None:
        self.name = name
        self.bindings: dict[str, Binding] = {}
        #: What the clock sends, by name.
        self.schedules: dict[str, Call[int]] = {}

    @property
    def listeners(self) -> dict[str, str]:
        """Names of the listeners by queue."""
        return {name: found.listener.name for name, found in self.bindings.items() if found.listener is not None}

    @property
    def fleeting(self) -> list[str]:
        """Names of the subscriptions that end with their workers."""
        bound = self.bindings.values()
        return [found.queue for found in bound if found.subscription is not None and not found.subscription.durable]

    def handler(
        self,
        queue: str,
        *,
        message_type: str | None = None,
        batch: int | None = None,
        listener: str | None = None,
        max_sessions: int | None = None,
        stop_on_failure: bool | None = None,
        sequential_failures: int | None = None,
        rules: Iterable[Rule] = (),
        reply: bool = False,
        time_limit: float | None = None,
    ) -> Callable[[Handler], Handler]:
        """Register the decorated function for a queue (and message type). ``batch``: the most messages received at
        once, 1 to 10000. None: as many as are handled in a tenth of a second, 1000 at most. With ``listener``, workers
        receive through the listener of that name, one message a transaction. The three options apply only if the
        listener must be created; an administrator's values count. ``rules`` say what becomes of a message by the class
        of its exception: (ValueError, Reject), (TimeoutError, Retry(after=30)). ``reply``: the function's result is the
        answer to the message, sent in its transaction to its reply_to; None is no answer. ``time_limit``: seconds after
        which a call is a failed delivery, HandlerTimeout. Its SQL is cancelled then; an ``async def`` is cancelled
        altogether. An ``async def`` runs to its end in the event loop of its session's thread. Raises AppError for an
        invalid argument, and for a generator function: calling one runs nothing. Raises it for a function that does not
        take a message and a transaction, too.
        """
        for what, name in {"queue": queue, "message_type": message_type or "", "listener": listener or ""}.items():
            if not isinstance(name, str):
                raise AppError(f"{what} must be a text, not {name!r}", "Such as: @app.handler('orders').")
        if batch is not None and not (isinstance(batch, int) and 1 <= batch <= 10000):
            raise AppError(f"batch must be 1 to 10000, not {batch!r}")
        if time_limit is not None and not (isinstance(time_limit, int | float) and time_limit > 0):
            raise AppError(f"time_limit must be a number of seconds above 0, not {time_limit!r}")
        options = _given(
            max_sessions=max_sessions, stop_on_failure=stop_on_failure, sequential_failures=sequential_failures
        )
        if listener is None and options:
            raise AppError(f"{', '.join(options)} without a listener", "Name one: @app.handler(queue, listener=…).")
        if listener is not None and batch not in (None, 1):
            raise AppError(f"batch must be 1 with a listener, not {batch}")
        try:
            checked = Rules(rules)
        except BadArgument as error:
            raise AppError(f"handler of queue {queue}: {error.message}", error.hint) from error

        def register(function: Handler) -> Handler:
            try:
                handle = runnable(function)
            except TypeError as error:
                raise AppError(f"handler of queue {queue}: {error}", RUNNABLE) from error
            binding = self.bindings.setdefault(queue, Binding(queue))
            binding.add(message_type, _replying(handle) if reply else handle, checked, time_limit)
            binding.receive(batch, None if listener is None else Listener(listener, options))
            return function

        return register

    def schedule(self, queue: str, body: Body, *, name: str, **options: Unpack[ScheduleOptions]) -> None:
        """Schedule a message. Options as in ``connection.schedules.add``: cron and time_zone, period, repeat, ….

        Workers create it when they start. The same definition again changes nothing; a different one replaces it.
        Workers need the right to send to the queue. Raises AppError for a second schedule of that name.
        """
        if name in self.schedules:
            raise AppError(f"there is a schedule {name} already")
        try:
            self.schedules[name] = schedule(queue, body, name=name, **options)
        except BadArgument as error:
            raise AppError(f"schedule {name}: {error.message}", error.hint) from error

    def subscribe(
        self,
        topic: str,
        *,
        name: str,
        message_type: str | None = None,
        batch: int | None = None,
        client_id: str = "",
        selector: str | None = None,
        shared: bool = True,
        durable: bool = True,
        no_local: bool = False,
        since: datetime | None = None,
        listener: str | None = None,
        max_sessions: int | None = None,
        stop_on_failure: bool | None = None,
        sequential_failures: int | None = None,
        rules: Iterable[Rule] = (),
        time_limit: float | None = None,
        **options: Unpack[SubscriptionOptions],
    ) -> Callable[[Handler], Handler]:
        """Register the decorated function for a subscription to a topic, or to a wildcard of topics.

        Workers subscribe when they start, if need be. A different definition starts the subscription anew. ``shared``:
        all sessions receive at once, each message goes to one of them; False: one session at a time receives, in the
        order of publishing. ``durable`` False: it ends with the last worker that has it. ``since``: also receive what
        was sent from that time on and is still stored. ``options``: prioritized, and the poison policy as in
        create_queue. The others are as in ``handler``. With ``listener``, workers receive through it, ``max_sessions``
        at once, until failures stop it. The listener ends with its subscription. Raises AppError for a second
        definition.
        """
        if no_local and shared:
            raise AppError("no_local does not go with a shared subscription", "Say shared=False.")
        queue = subscription_name(topic, name, client_id, durable=durable)
        wanted = Subscription(topic, name, client_id, selector, shared, durable, no_local, since, options)
        bound = self.bindings.get(queue)
        if bound is not None and bound.subscription != wanted:
            raise AppError(f"subscription {queue} has another definition already, or is handled as a queue")
        registered = self.handler(
            queue,
            message_type=message_type,
            batch=batch,
            listener=listener,
            max_sessions=max_sessions,
            stop_on_failure=stop_on_failure,
            sequential_failures=sequential_failures,
            rules=rules,
            time_limit=time_limit,
        )

        def register(function: Handler) -> Handler:
            registered(function)
            self.bindings[queue].subscription = wanted
            return function

        return register


def _given(**options: Any) -> ListenerOptions:
    return cast("ListenerOptions", {name: value for name, value in options.items() if value is not None})


def _replying(function: Handler) -> Handler:
    """Return a handler that sends the function's result as the answer to its message."""

    @wraps(function)
    def handle(message: Message, transaction: Transaction) -> None:
        body = function(message, transaction)
        if body is not None and message.reply_to is not None:
            transaction.session.respond(message, body)

    return handle


def load(target: str) -> App:
    """Return the App named by ``module:name``. Also searches the working directory. Raises AppError."""
    module_name, colon, attribute = target.partition(":")
    if not colon or not module_name or not attribute:
        raise AppError(
            f"{target!r} does not name an application", "Write it as MODULE:APP, such as myproject.tasks:app."
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise AppError(f"module {module_name} does not import: {type(error).__name__}: {error}") from error
    app = getattr(module, attribute, None)
    if not isinstance(app, App):
        raise AppError(
            f"{target} is {'missing' if app is None else 'not a howdah App'}", "Make one with howdah.workers.App()."
        )
    if not app.bindings:
        raise AppError(f"{target} has no handlers", "Register a function with @app.handler(queue).")
    return app
