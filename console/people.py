"""Who looks: how a request says which person and which role of the database it stands for."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Protocol

from starlette.requests import Request

REALM = 'Basic realm="Howdah", charset="UTF-8"'


@dataclass(frozen=True)
class Person:
    """Somebody who looks, and how the database knows them."""

    #: The name on pages. Each act records it if it is not the role.
    name: str
    #: The role that each transaction assumes. None: the user who connects.
    role: str | None = None
    #: Connect as this user with this password. None: as the DSN says.
    user: str | None = None
    password: str | None = field(default=None, repr=False)


class RefusedError(Exception):
    """This request stands for nobody. ``challenge`` asks the browser for a password."""

    def __init__(self, status: int, why: str, *, challenge: bool = False, log_in: str | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.challenge = challenge
        #: Where a browser goes to log in. None: nowhere.
        self.log_in = log_in


class Access(Protocol):
    """A way to know who looks."""

    def identify(self, request: Request) -> Person:
        """The person of a request. Raises RefusedError."""


@dataclass(frozen=True)
class Local:
    """Everybody on this machine is the user of the DSN. Requests from elsewhere are refused."""

    name: str = "local"

    def identify(self, request: Request) -> Person:
        """The person of a request. Raises RefusedError."""
        # The host name in the URL counts too: another site could let its own name lead to this machine.
        if not (is_loopback(_address(request)) and is_loopback(request.url.hostname or "")):
            raise RefusedError(403, "This console answers on its own machine alone. Say --auth basic for others.")
        return Person(self.name)


@dataclass(frozen=True)
class Basic:
    """HTTP basic: the browser's user and password are those of the database."""

    def identify(self, request: Request) -> Person:
        """The person of a request. Raises RefusedError."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        try:
            user, colon, password = base64.b64decode(given, validate=True).decode().partition(":")
        except (binascii.Error, ValueError):
            user = colon = password = ""
        if scheme.lower() != "basic" or not (colon and user and password) or "\0" in user + password:
            raise RefusedError(401, "Log in with a user and password of the database.", challenge=True)
        return Person(user, user=user, password=password)


@dataclass(frozen=True)
class Proxy:
    """A proxy at a trusted address names the role in a header."""

    trusted: Sequence[str]
    header: str = "x-forwarded-user"

    def __post_init__(self) -> None:
        if not self.trusted:
            raise ValueError("say which addresses are trusted to name the role, such as 10.0.0.5/32")
        for network in self.trusted:
            ip_network(network)

    def identify(self, request: Request) -> Person:
        """The person of a request. Raises RefusedError."""
        if not self._is_trusted(_address(request)):
            raise RefusedError(403, "This address is not trusted to say who you are.")
        names = request.headers.getlist(self.header)
        # Do not turn an invalid name into another role's: str.strip would cut more than spaces and tabs.
        name = names[0].strip(" \t") if len(names) == 1 else ""
        if not name or name.lower() == "none" or not name.isprintable():
            raise RefusedError(403, f"The proxy has to name one role in the header {self.header}.")
        return Person(name, role=name)

    def _is_trusted(self, address: str) -> bool:
        try:
            given = ip_address(address)
        except ValueError:
            return False
        return any(given in ip_network(network) for network in self.trusted)


@dataclass(frozen=True)
class Host:
    """The application that holds the console says who looks, with its own log-in."""

    function: Callable[[Request], Person | None]
    #: The address of the application's log-in, for users who have not logged in. None: there is none.
    log_in: Callable[[Request], str | None] | None = None

    def identify(self, request: Request) -> Person:
        """The person of a request. Raises RefusedError."""
        person = self.function(request)
        if person is None or person.role is None:
            log_in = None if self.log_in is None else self.log_in(request)
            raise RefusedError(403, "This application does not let you see its queues.", log_in=log_in)
        return person


def is_loopback(host: str) -> bool:
    """Whether that address or name leads to this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
