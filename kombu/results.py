"""Howdah as Celery's result backend: ``result_backend = "howdah.kombu.results:Backend+howdah://user@host/database"``.

A result lies in the database until ``result_expires``. NOTIFY wakes callers that wait for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any
from uuid import uuid4

from celery import states
from celery.backends.base import KeyValueStoreBackend
from celery.exceptions import ChordError, TimeoutError
from celery.result import AsyncResult, GroupResult, allow_join_result
from celery.utils.functional import LRUCache
from kombu.utils.encoding import bytes_to_str

from ..engine.errors import CannotConnect, ConnectionLost
from ..text.dsn import shown
from .envelope import once
from .server import Server
from .store import Store

log = logging.getLogger("howdah.kombu")

QUEUE = "celery.results"
FOREVER = 3_155_760_000
"""Seconds, a hundred years: the longest that a queue keeps results."""
CHORDS = 200
"""Chords whose lists of tasks a process remembers."""
LOOKED_AT = 32
"""Tasks of a chord that are looked at in one call."""


class Backend(KeyValueStoreBackend):  # type: ignore[misc]
    """Celery's results as results of one queue of Howdah, which has no messages."""

    key_t = staticmethod(bytes_to_str)
    supports_autoexpire = True
    supports_native_join = True
    supports_result_compression = True
    persistent = True

    def __init__(self, url: str | None = None, **options: Any) -> None:
        """url: as for the broker, howdah://user@host/database."""
        super().__init__(url=url, **options)
        given = self.app.conf.result_backend_transport_options or {}
        server = Server(url or "howdah://", self.app.conf.broker_connection_timeout)
        kept_ms = round(1000 * min(self.expires or FOREVER, FOREVER))
        self.store = Store(server, given.get("queue", QUEUE), {"keep_results_ms": max(1, kept_ms)})
        self._chords = LRUCache(limit=CHORDS)
        self._lock = threading.Lock()

    def as_uri(self, include_password: bool = False) -> str:
        """Where it connects to, for logs."""
        return self.url if include_password else f"howdah: {shown(self.store.dsn)}"

    def exception_safe_to_retry(self, exc: Exception) -> bool:
        """Whether the same call may do better soon (result_backend_always_retry)."""
        return isinstance(exc, ConnectionLost | CannotConnect)

    # values by key

    def get(self, key: str) -> str | bytes | None:
        """A value, or None."""
        return self.store.find([key]).get(key)

    def mget(self, keys: Iterable[str]) -> dict[str, str | bytes]:
        """The values that there are, by key."""
        return self.store.find(keys)

    def set(self, key: str, value: str | bytes) -> None:
        """Keep a value."""
        self.store.keep(key, value)

    def _set_with_state(self, key: str, value: str | bytes, state: str) -> None:
        self.store.keep(key, value, state)

    def delete(self, key: str) -> None:
        """Forget a value."""
        self.store.keep(key, None)

    # waiting

    def wait_for(
        self,
        task_id: str,
        timeout: float | None = None,
        interval: float = 0.5,
        no_ack: bool = True,
        on_interval: Callable[[], None] | None = None,
    ) -> dict[str, Any]:
        """A task's result, once it has one. Raises TimeoutError."""
        self._ensure_not_eager()
        for _, meta in self.get_many([task_id], timeout, interval, no_ack, on_interval=on_interval):
            return meta
        raise TimeoutError("The operation timed out.")

    def get_many(
        self,
        task_ids: Iterable[str],
        timeout: float | None = None,
        interval: float | None = 0.5,
        no_ack: bool = True,
        on_message: Callable[[dict[str, Any]], None] | None = None,
        on_interval: Callable[[], None] | None = None,
        max_iterations: int | None = None,
        READY_STATES: frozenset[str] = states.READY_STATES,
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The tasks' results, each as soon as it is there. Raises TimeoutError."""
        names = {self.get_key_for_task(task_id): str(task_id) for task_id in task_ids}
        called_at = time.monotonic()
        for turn, found in enumerate(self.store.wait(names, timeout), 1):
            for task_id, meta in self._ready(found, names, READY_STATES):
                if on_message is not None:
                    on_message(meta)
                yield task_id, meta
            if not names or (max_iterations and turn >= max_iterations):
                return
            if on_interval and time.monotonic() - called_at >= (interval or 0):
                called_at = time.monotonic()
                on_interval()
        raise TimeoutError(f"Operation timed out ({timeout})")

    def _ready(
        self, found: dict[str, str | bytes], names: dict[str, str], ready: frozenset[str]
    ) -> list[tuple[str, dict[str, Any]]]:
        """Results that have come to their end. Nobody waits for their names any more."""
        ended = []
        for name, value in found.items():
            meta = self.decode_result(value)
            if meta["status"] in ready:
                ended.append((names.pop(name), meta))
                if meta["status"] == states.SUCCESS:
                    self._cache[ended[-1][0]] = meta
        return ended

    # chords

    def apply_chord(self, header_result_args: tuple[Any, ...], body: Any, **options: Any) -> None:
        """Keep which tasks a chord waits for."""
        self.ensure_chords_allowed()
        self.app.GroupResult(*header_result_args).save(backend=self)

    def on_chord_part_return(self, request: Any, state: str, result: Any, **options: Any) -> None:
        """Send the chord's body once all its tasks have their results.

        Two tasks may end at the same time and both see that all have. The broker takes what both send as one. If the
        chord fails, one of them calls its errbacks.
        """
        group_id = request.group
        if not group_id:
            return
        ended = self.get_key_for_chord(group_id)
        tasks = self._chords.get(group_id)
        if tasks is None:
            header = GroupResult.restore(group_id, backend=self)
            if header is None:
                self._fail(request, ended, ChordError(f"GroupResult {group_id} no longer exists"))
                return
            tasks = self._chords[group_id] = {self.get_key_for_task(one.id): None for one in _leaves(header)}
        if self._all_ended(tasks) and self.get(ended) is None:
            self._send_body(request, group_id, ended)

    def _all_ended(self, tasks: dict[str, None]) -> bool:
        """Whether all tasks have their results. Those that had one are not looked at again."""
        while True:
            with self._lock:
                some = list(islice(tasks, LOOKED_AT))
            if not some:
                return True
            found = self.store.find(some)
            ended = [name for name in some if name in found and not self._is_open(found[name])]
            with self._lock:
                for name in ended:
                    tasks.pop(name, None)
            if len(ended) < len(some):
                return False

    def _is_open(self, value: str | bytes) -> bool:
        return self.decode_result(value)["status"] not in states.READY_STATES

    def _send_body(self, request: Any, group_id: str, ended: str) -> None:
        header = GroupResult.restore(group_id, backend=self)
        body = self.app.signature(request.chord)
        try:
            with allow_join_result():
                values = header.join(timeout=self.app.conf.result_chord_join_timeout, propagate=True)
        except Exception as error:  # noqa: BLE001 what the task raised
            culprit = next(header._failed_join_report(), None)
            reason = repr(error) if culprit is None else f"Dependency {culprit.id} raised {error!r}"
            cause = ChordError(reason)
            cause.__cause__ = error
            self._fail(request, ended, cause)
            return
        try:
            with once():
                self.app.amqp._retry_publish(body.delay, values)
        except Exception as error:  # noqa: BLE001 nobody else would say that the body does not run
            failure = ChordError(f"Callback error: {error!r}")
            failure.__cause__ = error
            self._fail(request, ended, failure)
        else:
            self.set(ended, "sent")

    def _fail(self, request: Any, ended: str, error: ChordError) -> None:
        log.error("chord of group %s: %s", request.group, error)
        if not self.store.claim(ended, f"failed {uuid4()}"):
            return
        try:
            raise error  # Celery keeps where it was raised
        except ChordError:
            self.chord_error_from_stack(self.app.signature(request.chord), error)


def _leaves(result: Any) -> Iterator[AsyncResult]:
    """The single tasks of a group."""
    for one in result.results:
        if isinstance(one, GroupResult):
            yield from _leaves(one)
        else:
            yield one
