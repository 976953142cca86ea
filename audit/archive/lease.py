"""One archiver at a time: the lease archive, renewed while a run is under way."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg

from ...engine import Admin, HowdahError
from ...engine.admin.archives import Archives
from ...engine.database.runner import run
from ..database import opened
from ..errors import AuditError

LOCK = "archive"
SECONDS = 60.0
"""How long the next archiver waits at most after the death of one."""


class Lease:
    """The lease, held; epoch is its fencing token. A thread renews it over a connection of its own."""

    def __init__(self, dsn: str) -> None:
        self._renewer = opened(dsn, "howdah archive")
        self._admin = Admin(lambda call: run(self._renewer, call))
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._ended = threading.Event()
        self._lost = False
        try:
            epoch = self._admin.acquire_lock(LOCK, self._holder, SECONDS)
        except (HowdahError, psycopg.Error):
            self._renewer.close()
            raise
        if epoch is None:
            self._renewer.close()
            raise AuditError(
                f"another archiver is at work, or died less than {SECONDS:.0f} seconds ago: try again later"
            )
        self.epoch = epoch
        self._thread = threading.Thread(target=self._renew, name="howdah-archive-lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise AuditError if the lease was lost. What protects the archive is that the database refuses its epoch."""
        if self._lost:
            raise AuditError("the lease archive was lost: another archiver may be at work")

    def _renew(self) -> None:
        while not self._ended.wait(SECONDS / 3):
            try:
                kept = self._admin.acquire_lock(LOCK, self._holder, SECONDS) == self.epoch
            except (HowdahError, psycopg.Error):
                kept = False
            if not kept:
                self._lost = True
                return

    def close(self) -> None:
        """Give it up."""
        self._ended.set()
        self._thread.join()
        with suppress(HowdahError, psycopg.Error):
            self._admin.release_lock(LOCK, self.epoch, self._holder)
        self._renewer.close()


@contextmanager
def leased(dsn: str) -> Iterator[Lease]:
    """Hold the lease for the block. Raises AuditError if somebody else has it, or the database does not answer."""
    try:
        lease = Lease(dsn)
    except psycopg.Error as error:
        raise AuditError(f"cannot connect: {str(error).strip()}") from error
    try:
        yield lease
    finally:
        lease.close()


@contextmanager
def archives(dsn: str) -> Iterator[Archives]:
    """The database's side of the archive, each call a transaction of its own."""
    with opened(dsn, "howdah archive") as connection:
        yield Archives(lambda call: run(connection, call))
