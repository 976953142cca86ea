"""What Celery keeps of its tasks, as results of a queue of Howdah that has no messages.

Celery knows a result by a text. A result of Howdah has a number, so each text gets one of its own below zero, where no
message has its number.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from ..engine.calls import Call, scalar
from ..engine.calls.bodies import to_json
from ..engine.calls.call import single
from ..engine.calls.results import wait_result
from ..engine.database.waiting import Asks, Idle
from ..engine.database.waking import Waking
from ..engine.errors import NoSuchQueue, QueueExists
from .server import Server

log = logging.getLogger("howdah.kombu")

AT_ONCE = 100
"""The most results of one call. A caller that waits for more waits for these first."""
WOKEN_BY = 8
"""How many results may ask for NOTIFY at once. A caller that waits for more looks at all when one of these comes."""


class NotKept(Exception):
    """The queue keeps no results."""


def number(name: str) -> int:
    """The number of a result that has a name. It is below zero."""
    return -(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) >> 1) - 1


class Store:
    """The results of one queue, by name."""

    def __init__(self, server: Server, queue: str, options: Mapping[str, Any]) -> None:
        """options: those that the queue is made with if there is none."""
        self._server = server
        self.queue = queue
        self._options = dict(options)

    def keep(self, name: str, payload: str | bytes | None, state: str = "") -> None:
        """Keep a result, in the place of the last one. None: forget it.

        Raises NotKept, MessageTooLarge, and NoSuchQueue if there is none and this role may not create it.
        """
        value = None if payload is None else to_json({"name": name, "state": state, **_written(payload)})
        call = "select howdah.keep_result(%s::text, %s::bigint, %s::jsonb)"
        if not self._write(call, self.queue, number(name), value):
            raise NotKept(f"queue {self.queue} keeps no results: it needs the option keep_results_ms")

    def claim(self, name: str, payload: str) -> bool:
        """Keep a result if no other is kept. Of several calls at once, each with its own payload, one is True."""
        value = to_json({"name": name, "state": "", "payload": payload})
        return self._write(
            "select howdah.keep_result_once(%s::text, %s::bigint, %s::jsonb)", self.queue, number(name), value
        )

    def find(self, names: Iterable[str]) -> dict[str, str | bytes]:
        """The results that are kept, by name."""
        found: dict[str, str | bytes] = {}
        wanted = list(names)
        for start in range(0, len(wanted), AT_ONCE):
            of = {number(name): name for name in wanted[start : start + AT_ONCE]}
            # Each number is asked for by itself, so that rights and expiry are howdah.result's.
            call: Call[list[Any]] = Call(
                "select n, r.value from unnest(%s::bigint[]) n, howdah.result(%s::text, n) r where r.value is not null",
                (list(of), self.queue),
                list,
            )
            try:
                rows = self._server.run(call)
            except NoSuchQueue:  # nobody has kept one yet
                return {}
            for given, value in rows:
                if isinstance(value, dict) and value.get("name") == of[given]:
                    found[of[given]] = _read(value)
        return found

    def wait(self, names: Collection[str], seconds: float | None) -> Iterator[dict[str, str | bytes]]:
        """The results that are kept, again and again, until time is up. It sleeps in between, or until a NOTIFY comes.

        names: the caller takes out what it needs no longer.
        """
        waking = Waking.of(self._server.dsn)
        bell = threading.Event()
        asks = Asks()
        asks.busy = False  # who waits for a result asks to be woken soon
        try:
            with Idle(waking, bell.set, seconds, asks) as idle:
                while True:
                    bell.clear()
                    wanted = list(islice(names, AT_ONCE))
                    self._ask(idle, wanted)
                    yield self.find(wanted)
                    if list(islice(names, AT_ONCE)) != wanted:
                        idle.found()
                        continue
                    pause = idle.pause()
                    if pause is None:
                        return
                    bell.wait(pause)
        finally:
            waking.release()

    @property
    def dsn(self) -> str:
        """Where the results lie."""
        return self._server.dsn

    def close(self) -> None:
        """End the session."""
        self._server.close()

    def _ask(self, idle: Idle, names: list[str]) -> None:
        for name in names[:WOKEN_BY]:
            # Here the wait of one result corresponds to the wait of one queue elsewhere.
            call = idle.ask(name, lambda name, since: wait_result(self.queue, number(name), since))
            if call is None:
                continue
            try:
                idle.asked(name, self._server.run(call))
            except NoSuchQueue:
                return

    def _write(self, sql: str, *arguments: Any) -> bool:
        call: Call[bool] = Call(sql, arguments, single)
        try:
            return self._server.run(call)
        except NoSuchQueue:
            self._create()
            return self._server.run(call)

    def _create(self) -> None:
        try:
            self._server.run(
                scalar("create_queue", queue=("text", self.queue), options=("jsonb", to_json(self._options)))
            )
        except QueueExists:
            log.debug("somebody else has made %s", self.queue)


def _written(payload: str | bytes) -> dict[str, str]:
    """As JSON: text as it is, where jsonb can have it."""
    text: str | None = None
    if isinstance(payload, str):
        text = payload
    else:
        with suppress(UnicodeDecodeError):
            text = payload.decode()
    if text is None or "\0" in text:
        return {"base64": base64.b64encode(payload.encode() if isinstance(payload, str) else payload).decode()}
    return {"payload": text}


def _read(value: Mapping[str, Any]) -> str | bytes:
    return base64.b64decode(value["base64"]) if "base64" in value else str(value["payload"])
