"""Run one handler on one message in a transaction that is rolled back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

from ..engine import Admin, Message, Session
from ..engine.admin.schedules import Schedules
from ..engine.database.runner import run
from ..engine.errors.blame import RAISED
from ..engine.handling.failure import failure_of, is_blamed
from ..workers import App, AppError, Transaction
from ..workers.app import Handler
from ..workers.asynchronous import close_loop
from ..workers.burst import SAVE
from ..workers.guard import HandlerConnection
from ..workers.time_limits import Limits

NAME = "howdah testing"
PAGE = 1000

Outcome = Literal["consumed", "failed", "rejected", "retried"]


@dataclass(frozen=True)
class Ran:
    """What a handler did before the rollback."""

    #: consumed: it would have been committed. failed: a failed delivery would have been recorded. rejected: a failed
    #: delivery that ends the tries. retried: the error blames no message; a worker would record nothing and retry.
    outcome: Outcome
    #: What it raised, or what its commit would have.
    error: BaseException | None = None
    #: Seconds until the redelivery, where the handler or its rules say; None: as its queue has it.
    delay: float | None = None
    #: The messages that it sent to queues, delayed ones too, by queue and in their order there.
    sent: list[Message] = field(default_factory=list)
    #: What ``look`` returned.
    seen: Any = None


def run_handler(
    handler: App | Handler,
    message: Message,
    dsn: str,
    *,
    look: Callable[[Transaction], Any] | None = None,
    check: bool = True,
) -> Ran:
    """Handle a message as a worker would, then roll back. Raises the handler's error unless ``check`` is False.

    ``handler`` is a function, or an App, whose handler is found by the message's queue and type.
    ``look`` is called after the handler, with the transaction still open; ``Ran.seen`` keeps what it returns.
    Constraints deferred to the commit are checked too.
    Subscribers see a publication only after a commit, so ``sent`` does not contain it: see ``drain``.
    """
    app = handler if isinstance(handler, App) else _app_of(handler, message.queue)
    binding = app.bindings.get(message.queue)
    if binding is None:
        raise AppError(f"the app has no handler for queue {message.queue}", "Say make_message(…, queue=…).")
    with HandlerConnection.open(dsn, NAME) as connection, connection.transaction(force_rollback=True):
        transaction = Transaction(connection, NAME)
        limits = testing_limits()
        before = {one.message_id for one in _lying(connection)}
        connection.execute(SAVE)
        try:
            with limits.watched(0, connection, binding.time_limit_for(message)) or nullcontext():
                binding.handler_for(message)(message, transaction)
            transaction.check()
            connection.execute("set constraints all immediate")
        except RAISED as error:
            if check:
                raise
            return _failed(error, message, app)
        finally:
            limits.close()
            close_loop()
        sent = [one for one in _lying(connection) if one.message_id not in before]
        return Ran("consumed", sent=sent, seen=None if look is None else look(transaction))


def testing_limits() -> Limits:
    """Watches over time limits in the test's own process. It never ends that: it waits for a handler that goes on."""
    return Limits(NAME, lambda slot: None)


def _app_of(function: Handler, queue: str) -> App:
    app = App()
    app.handler(queue)(function)
    return app


def _failed(error: BaseException, message: Message, app: App) -> Ran:
    if not is_blamed(error):
        return Ran("retried", error)
    failure: dict[str, Any] = failure_of(message, error, app.bindings[message.queue].rules_for(message))
    delay = failure.get("delay_ms")
    return Ran("rejected" if failure.get("reject") else "failed", error, None if delay is None else delay / 1000)


def _lying(connection: HandlerConnection) -> list[Message]:
    """Return the messages of all queues that the transaction sees, delayed ones too."""
    admin, schedules = Admin(lambda call: run(connection, call)), Schedules(lambda call: run(connection, call))
    session = Session(connection)
    found: list[Message] = []
    for row in admin.list_queues(temporary=True):
        queue = row["queue"]
        page = session.browse(queue, PAGE)
        found += page
        while len(page) == PAGE:
            page = session.browse(queue, PAGE, after=page[-1])
            found += page
        for delayed in schedules.delayed(queue, PAGE):
            parked = admin.poison_message(delayed["message_id"], queue)
            found += [] if parked is None else [parked.message]
    return found
