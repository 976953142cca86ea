"""What tests of forwarders import: one that runs while a block does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from howdah.engine.database.waking import Waking
from howdah.workers.links import Forwarder


@contextmanager
def forwarding(dsn: str, name: str = "to_b", holder: str = "me") -> Iterator[Forwarder]:
    """A forwarder of one link, while the block runs."""
    stopping, waking = threading.Event(), Waking.of(dsn)
    forwarder = Forwarder(dsn, name, holder, stopping, waking)
    forwarder.start()
    try:
        yield forwarder
    finally:
        stopping.set()
        forwarder.wake()
        forwarder.join(20)
        waking.release()
        assert not forwarder.is_alive()
