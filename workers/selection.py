"""Select a part of an application: the handlers of some of its queues."""

from __future__ import annotations

from collections.abc import Collection

from .app import App, AppError


class UnknownQueue(AppError):
    """The application has no handler for a chosen queue."""


def select(app: App, queues: Collection[str]) -> App:
    """Return the application with only these queues' handlers, in its own order; all of it if none is named.

    Its schedules stay: each worker makes all of them. Raises UnknownQueue.
    """
    if not queues:
        return app
    unknown = [queue for queue in queues if queue not in app.bindings]
    if unknown:
        raise UnknownQueue(
            f"app {app.name} has no handler for queue {', '.join(unknown)}",
            f"It has handlers for {', '.join(app.bindings)}.",
        )
    part = App(app.name)
    part.bindings = {queue: binding for queue, binding in app.bindings.items() if queue in queues}
    part.schedules = app.schedules
    return part
