"""How often a user name may fail to log in from an address, and how often the address may."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from ipaddress import IPv6Address, ip_address
from typing import TypeVar

T = TypeVar("T")

#: How many names and addresses keep their failures. One address cannot push out the others: it must wait first.
MOST_KEPT = 10_000
#: Bytes of a user name that count: PostgreSQL cuts the rest off, so it makes no other name.
NAME_BYTES = 63


class Attempts:
    """Failed log-ins within a time, by address and user name, and by address.

    Behind a reverse proxy all people have one address. So a name has its own limit, and the limit of an address is ten
    times as high. It does not stop users whose log-in has succeeded from there: they do not guess at a password.
    """

    def __init__(
        self, most: int = 10, seconds: float = 60, clock: Callable[[], float] = time.monotonic, of_address: int = 100
    ) -> None:
        self.seconds = seconds
        self._clock = clock
        self._names = _Failures(most)
        self._addresses = _Failures(of_address)
        self._known: OrderedDict[Hashable, None] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, address: str, user: str) -> int:
        """Seconds until that user may try again from that address; 0: now."""
        address = _visitor(address)
        name, now = _key(address, user), self._clock()
        with self._lock:
            since = now - self.seconds
            full = self._names.full(name, since)
            if full is None and name not in self._known:
                full = self._addresses.full(address, since)
        return 0 if full is None else max(1, round(full - since))

    def failed(self, address: str, user: str) -> None:
        """Count a failure."""
        address, now = _visitor(address), self._clock()
        with self._lock:
            self._names.add(_key(address, user), now)
            self._addresses.add(address, now)

    def succeeded(self, address: str, user: str) -> None:
        """Note that the user has logged in from that address."""
        with self._lock:
            _keep(self._known, _key(_visitor(address), user), None)


class _Failures:
    """When each key failed, as often as matters."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._at: OrderedDict[Hashable, list[float]] = OrderedDict()

    def full(self, key: Hashable, since: float) -> float | None:
        """The time of the failure that has to age before the next try. None: a try is free."""
        recent = [at for at in self._at.get(key, ()) if at > since]
        return recent[0] if len(recent) >= self._most else None

    def add(self, key: Hashable, now: float) -> None:
        """Count a failure."""
        _keep(self._at, key, [*self._at.get(key, ()), now][-self._most :])


def _key(address: str, user: str) -> Hashable:
    return address, user.encode("utf-8", "backslashreplace")[:NAME_BYTES]


def _keep(kept: OrderedDict[Hashable, T], key: Hashable, value: T) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MOST_KEPT:
        kept.popitem(last=False)


def _visitor(address: str) -> str:
    """The addresses of one visitor: an IPv4 address, or an IPv6 network of 2^64 addresses."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return address
    return str(found.ipv4_mapped or int(found) >> 64)
