"""Report events of queues and messages: receive advisories and call webhooks and mail servers.

An advisory is a message whose body is a JSON object: event, queue, message_id, reason, at, and whatever else is known.
It is sent in the transaction of its event. Hooks are called from here, once that has committed.
Every hook is called at least once for each advisory: twice only if the worker or the database dies in between.
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from ...engine import Message, Reject, Retry
from .. import events
from ..app import App, AppError
from ..transaction import Transaction
from .calls import Event, HookFailed, tell
from .config import Configuration, load_hooks

VARIABLE = "HOWDAH_HOOKS"
"""Environment variable through which a worker process gets the path of the configuration."""

TARGET = "howdah.workers.hooks.handler:app"
REMEMBERED = 10_000
PAUSE_MAX = 86_400.0


class Hooks:
    """The handler of the advisory queue."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        #: Which hooks this process has told, by advisory: a repeated try tells only the others.
        self._told: OrderedDict[tuple[int, int], set[str]] = OrderedDict()
        self._lock = threading.Lock()

    def app(self) -> App:
        """Return an app with this handler. One advisory a transaction, so that no other's failure repeats its calls."""
        app = App("hooks")
        app.handler(self._configuration.queue, batch=1)(self.handle)
        return app

    def handle(self, advisory: Message, transaction: Transaction) -> None:
        """Call every hook that wants the event. If any failed, raises Retry, or Reject after the last try."""
        event = _event(advisory)
        if event.get("queue") == advisory.queue:
            return  # the log reports events of advisories: otherwise one that fails would cause another forever
        told = self._of(advisory)
        failed: list[HookFailed] = []
        for hook in self._configuration.hooks:
            if hook.name in told or not hook.wants(event):
                continue
            try:
                tell(hook, event, advisory)
            except HookFailed as error:
                failed.append(error)
            else:
                told.add(hook.name)
                events.hook_told(transaction.worker, hook.name, advisory.message_id, str(event.get("event")))
        if not failed:
            return
        reason = "; ".join(str(error) for error in failed)
        if advisory.delivery_count >= self._configuration.tries:
            raise Reject(reason) from failed[0]
        pause = self._configuration.backoff * 2 ** (advisory.delivery_count - 1)
        raise Retry(min(pause, PAUSE_MAX), reason) from failed[0]

    def _of(self, advisory: Message) -> set[str]:
        with self._lock:
            told = self._told.setdefault((advisory.message_id, advisory.stage), set())
            self._told.move_to_end((advisory.message_id, advisory.stage))
            while len(self._told) > REMEMBERED:
                self._told.popitem(last=False)
        return told


def _event(advisory: Message) -> Event:
    """Return the event of an advisory. Raises Reject if the message is not one."""
    try:
        event: Any = json.loads(advisory.body)
    except ValueError as error:
        raise Reject("not an advisory") from error
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise Reject("not an advisory: a JSON object with an event is needed")
    return event


def configured_app() -> App:
    """Return the application that the environment names. Raises AppError."""
    path = os.environ.get(VARIABLE)
    if not path:
        raise AppError(f"{VARIABLE} is not set", "Start it with: howdah hooks run FILE.")
    return Hooks(load_hooks(Path(path), os.environ)).app()


def __getattr__(name: str) -> App:
    """Make ``app`` on demand: a worker process imports this module by its application's name."""
    if name == "app":
        return configured_app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
