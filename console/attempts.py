"""How often an address may fail to log in."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address

MOST_ADDRESSES = 10_000


class Attempts:
    """Failed log-ins by address, within a time."""

    def __init__(self, most: int = 10, seconds: float = 60, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.seconds = seconds
        self._clock = clock
        self._failed: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, address: str) -> int:
        """Seconds until that address may try again; 0: now."""
        address = _one(address)
        with self._lock:
            recent = self._recent(address)
            if len(recent) < self.most:
                return 0
            return max(1, round(recent[0] + self.seconds - self._clock()))

    def failed(self, address: str) -> None:
        """Count a failure."""
        address = _one(address)
        with self._lock:
            self._failed[address] = [*self._recent(address), self._clock()][-self.most :]
            self._failed.move_to_end(address)
            while len(self._failed) > MOST_ADDRESSES:
                self._failed.popitem(last=False)

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - self.seconds
        return [at for at in self._failed.get(address, ()) if at > since]


def _one(address: str) -> str:
    """What one visitor has: an address of IPv4, or a network of 2^64 addresses of IPv6."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    return str(found.ipv4_mapped or int(found) >> 64)
