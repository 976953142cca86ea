"""Administered objects as clients use them: connection factories and destinations, found by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import psycopg

from ..text.dsn import canonical, read
from .calls import Call
from .calls.administered import Administered, AdministeredDestination, Overrides
from .calls.objects import FoundObject, overriding
from .calls.objects import lookup as look_up
from .calls.stamps import Stamps
from .connection import Connection
from .database.reconnection import Reconnection
from .database.runner import run
from .errors import BadArgument, ReadOnlyObject, cannot_connect
from .factory import ConnectionFactory, connect
from .jms.prefetch import Prefetch
from .plan import ConnectSettings, complete, configured, split_url
from .xa import XAConnectionFactory

#: The parts of a DSN that stay if an object names a service of pg_service.conf.
_KEPT = ("application_name", "fallback_application_name", "connect_timeout", "options", "passfile")
_CONFIRMED = {"all": False, "persistent": None, "none": True}
_STAMPS = ("user_id", "app_id", "producer_txid", "consumer_txid", "rcv_timestamp")


class AdministeredFactory(ConnectionFactory):
    """A connection factory that was looked up. ``howdah.lookup`` says what its attributes mean."""

    def __init__(self, base: str, found: FoundObject) -> None:
        """base: the DSN by which it was looked up. It fills in what the attributes leave out."""
        own = found.attributes
        super().__init__(
            base,
            persistent_mapping=own.get("persistent_mapping", "RELIABLE_PERSISTENT"),
            nonpersistent_mapping=own.get("nonpersistent_mapping", "EXPRESS_NONPERSISTENT"),
        )
        self._base = base
        self._found = found

    @property
    def name(self) -> str:
        """The name by which it was looked up."""
        return self._found.name

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes, with this client's overrides."""
        return dict(self._found.attributes)

    @property
    def read_only(self) -> bool:
        """Whether its attributes cannot be set."""
        return self._found.read_only

    def set(self, name: str, value: Any) -> None:
        """Set an attribute for this client; None takes it away. The stored object stays as it is.

        Raises ReadOnlyObject, and BadOption for an invalid value.
        """
        if self.read_only:
            raise ReadOnlyObject(f"object {self.name!r} is read-only", "An administrator makes it writable.")
        self._found = _ask(self._base, look_up(self.name, {**self._found.overrides, name: value}))

    def create_connection(self, user: str | None = None, password: str | None = None) -> Connection:
        """A new connection, stopped: call ``start`` when its consumers are ready. Raises as ``connect``."""
        connection = connect(self.conninfo(user, password), started=False, **self.settings())
        connection.levels = self.levels
        return connection

    @property
    def levels(self) -> Administered:
        """What it decides over its clients' sends and receives."""
        own = self._found.attributes
        timeout = own.get("browser_timeout_ms")
        return Administered(
            self._levels.persistent,
            self._levels.nonpersistent,
            overrides=Overrides(
                own.get("delivery_mode"),
                own.get("priority"),
                _seconds(own.get("time_to_live_ms")),
                own.get("override_temporary", False),
            ),
            stamps=Stamps(*(own.get(f"jmsx_{name}", False) for name in _STAMPS)),
            page=own.get("browser_page_size", 100),
            page_timeout=_seconds(timeout),
            window_bytes=own.get("producer_window_bytes"),
            asynchronous=_CONFIRMED[own.get("confirm_sends", "persistent")],
            predefined_only=own.get("predefined_only", False),
            client_id=own.get("client_id"),
        )

    def settings(self) -> ConnectSettings:
        """Its settings as of ``connect``."""
        own = self._found.attributes
        found: ConnectSettings = {"timeout": _seconds(own.get("connect_timeout_ms")) or 30}
        if any(name in own for name in ("prefetch", "subscription_prefetch")):
            found["prefetch"] = Prefetch(own.get("prefetch", 1000), own.get("subscription_prefetch", 100))
        if "connection_service" in own:
            found["service"] = own["connection_service"]
        if "lease_duration_ms" in own:
            found["lease_duration"] = own["lease_duration_ms"] / 1000
        if own.get("reconnect_attempts", 0) != 0:
            found["reconnection"] = Reconnection(
                own["reconnect_attempts"],
                own.get("reconnect_interval_ms", 3000) / 1000,
                _seconds(own.get("reconnect_interval_max_ms")),
            )
        for name in ("min_size", "max_size", "role", "client_id", "max_redeliveries", "commit_by_reliability"):
            if name in own:
                found[name] = own[name]
        return found

    def conninfo(self, user: str | None = None, password: str | None = None) -> str:
        """Where it connects to: its attributes take precedence over the DSN of the lookup.

        The DSN's password goes to no other server than the DSN's own.
        """
        own, given = self._found.attributes, read(self._base)
        if "service" in own:
            given = {name: value for name, value in given.items() if name in _KEPT} | {"service": own["service"]}
        elif "hosts" in own:
            servers = _servers(given)
            hosts = [_host_and_port(host) for host in own["hosts"]]
            if not set(hosts) <= servers:
                given.pop("password", None)
            given.pop("hostaddr", None)
            given |= {"host": ",".join(host for host, _ in hosts), "port": ",".join(port for _, port in hosts)}
            if len(hosts) > 1:
                given.setdefault("target_session_attrs", "read-write")
        if "load_balance_hosts" in _keywords():
            given["load_balance_hosts"] = "random" if own.get("load_balance") else "disable"
        given |= {name: own[name] for name in ("dbname", "user", "sslmode") if name in own}
        given |= {name: value for name, value in (("user", user), ("password", password)) if value is not None}
        return canonical("", **given)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _keywords() -> set[str]:
    return {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}


def _host_and_port(host: str) -> tuple[str, str]:
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "5432"
    return name.strip("[]"), port


def _servers(given: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The hosts and ports of a DSN."""
    hosts, ports = str(given.get("host") or "").split(","), str(given.get("port") or "5432").split(",")
    return set(zip(hosts, ports if len(ports) > 1 else ports * len(hosts), strict=False))


class Naming:
    """Makes what clients get for objects."""

    @staticmethod
    def administered(base: str, found: FoundObject) -> Any:
        """Return the factory or destination of an object. base: the DSN by which it was found."""
        if found.kind == "connection_factory":
            return AdministeredFactory(base, found)
        if found.kind == "xa_connection_factory":
            return _xa(base, found)
        return AdministeredDestination.found(found.name, found.kind, found.attributes)


def _xa(base: str, found: FoundObject) -> XAConnectionFactory:
    """Return a factory over several databases. Its members are looked up in the same database."""
    members = {}
    for name in found.attributes["members"]:
        member = _ask(base, look_up(name))
        if member.kind != "connection_factory":
            raise BadArgument(f"member {name} of {found.name} is a {member.kind}", "Members are connection factories.")
        members[name] = _Branching(base, member)
    first = next(iter(members.values()))
    settings: ConnectSettings = {"max_size": 2, "timeout": first.settings().get("timeout", 30)}
    if "role" in first.attributes:
        settings["role"] = first.attributes["role"]
    return XAConnectionFactory(found.name, members, lambda: connect(first.conninfo(), **settings))


class _Branching(AdministeredFactory):
    """A member of a factory over several databases. Its sends wake nobody: PREPARE would fail otherwise."""

    @property
    def levels(self) -> Administered:
        """What it decides over its clients' sends and receives."""
        return replace(super().levels, notify=False)


def lookup(dsn: str | None, name: str, overrides: Mapping[str, Any] | None = None) -> Any:
    """Find an administered object by its name, in the database of a DSN. Without one: as ``connect``.

    - overrides: attributes for this client. Those of the environment (HOWDAH_OBJECT_HOSTS and so on) come before
      the factory's own, and these before both. A read-only object ignores all of them.

    Raises NameNotFound, BadOption, CannotConnect.
    """
    base = complete(split_url(configured(dsn), {})[0], 30)
    found = _ask(base, look_up(name))
    if wanted := overriding(found, overrides):
        found = _ask(base, look_up(name, wanted))
    return Naming.administered(base, found)


def _ask(base: str, call: Call[FoundObject]) -> FoundObject:
    try:
        connection = psycopg.connect(base, autocommit=True)
    except psycopg.Error as error:
        raise cannot_connect(error) from error
    with connection:
        return run(connection, call)


Connection.naming = Naming()
