"""What a connection is made with: its settings, checked and completed before anything reaches the server."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypedDict
from urllib.parse import parse_qsl

import psycopg
from psycopg.conninfo import make_conninfo

from ..text.dsn import BadDsnError, canonical, read
from ..text.passfile import VARIABLE, LooseFileError, checked
from .calls.levels import LevelMapping
from .calls.services import Service
from .database.client_id import ClaimedClientId
from .database.loans import PgConnection
from .database.pooling import Beginning, Sizes
from .database.reconnection import Reconnection
from .database.waking import KEEPALIVES
from .errors import CHECK_DSN, BadArgument, CannotConnect, cannot_connect, translated
from .jms.prefetch import Prefetch

MAXIMUM_REDELIVERIES = "jms.redeliveryPolicy.maximumRedeliveries"


class ConnectSettings(TypedDict, total=False):
    """The settings of ``connect``."""

    min_size: int | None
    max_size: int | None
    timeout: float
    role: str | None
    prepare: bool
    max_redeliveries: int | None
    prefetch: Prefetch | None
    lease_duration: float
    client_id: str | None
    commit_by_reliability: bool
    instance: str | None
    service: str | None
    reconnection: Reconnection | None


@dataclass(frozen=True)
class Plan:
    """A connection by DSN that can be made: ``connect`` and ``connect_async`` make theirs by it."""

    conninfo: str
    settings: ConnectSettings
    levels: LevelMapping

    @classmethod
    def of(cls, dsn: str | None, given: ConnectSettings, levels: LevelMapping | None = None) -> Plan:
        """Check and complete the settings, a URL's among them. levels: an administered factory's, else the instance's.

        Raises BadArgument, CannotConnect for a DSN that cannot be read.
        """
        dsn, settings = split_url(configured(dsn), given)
        check_duration(settings.get("lease_duration", 60))
        if settings.get("service") is None:
            Sizes.of(settings.get("min_size"), settings.get("max_size"))
        levels = levels or LevelMapping(home=settings.get("instance"))
        return cls(complete(dsn, settings.get("timeout", 30)), settings, levels)

    @cached_property
    def beginning(self) -> Beginning:
        """What each of its database sessions begins with."""
        given = self.settings
        return Beginning(given.get("role"), given.get("client_id"), given.get("service"))

    def probe(self) -> Service | None:
        """Return the service of a first connection, by which errors show at once."""
        with _reached(self.conninfo, self.settings.get("reconnection")) as connection, translated():
            return self.beginning.begin(connection)

    def claim(self) -> ClaimedClientId | None:
        """Claim its client id, if it has one. Raises ClientIdInUse."""
        client_id = self.settings.get("client_id")
        return None if client_id is None else ClaimedClientId(client_id, partial(_alone, self.conninfo, self.beginning))

    def sizes(self, service: Service | None) -> Sizes:
        """Return its pool's sizes with the service that the probe found."""
        return Sizes.of(self.settings.get("min_size"), self.settings.get("max_size"), service)

    def pool(self, sizes: Sizes) -> dict[str, Any]:
        """Return the arguments that a pool of either kind is made with."""
        return {
            "conninfo": self.conninfo,
            "kwargs": {} if self.settings.get("prepare", True) else {"prepare_threshold": None},
            "min_size": sizes.min_size,
            "max_size": sizes.max_size,
            "max_idle": sizes.max_idle,
            "timeout": self.settings.get("timeout", 30),
            "open": False,
            "name": "howdah",
        }


def of_pool(given: ConnectSettings, **where: object) -> ConnectSettings:
    """Return the settings of a connection over an application's own pool. where: what else says where to connect.

    Raises BadArgument for one that does not go with it.
    """
    said = {**given, **where}
    for name, hint in _NOT_WITH_POOL.items():
        if said.get(name) not in (None, False):
            separator = ", " if hint.startswith("or ") else ": "
            raise BadArgument(
                f"{name} does not go with a pool of the application's own", f"Connect by DSN{separator}{hint}"
            )
    check_duration(given.get("lease_duration", 60))
    return split_url(None, given)[1]


_NOT_WITH_POOL = {
    "dsn": "or by the pool.",
    "factory": "or by the factory alone.",
    "role": "or have the pool set the role of each of its connections.",
    "commit_by_reliability": "or say set local howdah.commit_by_reliability = on in each transaction.",
    "client_id": "whoever else uses the pool would publish under it.",
    "service": "or have the pool call howdah.connect_service for each of its connections.",
}


def split_url(dsn: str | None, given: ConnectSettings) -> tuple[str | None, ConnectSettings]:
    """Return the DSN without ActiveMQ's options, and the settings. The options fill in missing settings.

    Raises BadArgument for a wrong option.
    """
    dsn, max_redeliveries = _redelivery_policy(dsn, given.get("max_redeliveries"))
    dsn, options = _jms_options(dsn)
    in_url, client_id = options.pop("jms.clientID", None), given.get("client_id")
    return dsn, {
        **given,
        "max_redeliveries": max_redeliveries,
        "client_id": in_url if client_id is None else client_id,
        "prefetch": Prefetch.from_url(options, given.get("prefetch")),
    }


def _redelivery_policy(dsn: str | None, given: int | None) -> tuple[str | None, int | None]:
    """Return the DSN without ActiveMQ's option, and the redelivery limit: the argument or the option; -1 is none."""
    option = re.search(rf"([?&]){re.escape(MAXIMUM_REDELIVERIES)}=([^&]*)(&|$)", dsn or "")
    if dsn is not None and option is not None:
        rest = option[1] if option[3] else ""
        dsn = dsn[: option.start()] + rest + dsn[option.end() :]
        given = option[2] if given is None else given  # type: ignore[assignment]
    try:
        limit = None if given is None else int(given)
    except ValueError:
        limit = -2
    if limit is not None and limit < -1:
        raise BadArgument(f"max_redeliveries is a whole number from -1 (no limit), not {given!r}")
    return dsn, None if limit == -1 else limit


def _jms_options(dsn: str | None) -> tuple[str | None, dict[str, str]]:
    """The DSN without the other options that ActiveMQ has in a connection's URL, and those."""
    if dsn is None or "?" not in dsn:
        return dsn, {}
    base, _, query = dsn.partition("?")
    parts = query.split("&")
    ours = [part for part in parts if part.startswith("jms.")]
    rest = "&".join(part for part in parts if part not in ours)
    return (f"{base}?{rest}" if rest else base), dict(parse_qsl("&".join(ours), keep_blank_values=True))


def check_duration(seconds: float) -> None:
    """Refuse a lease that is too short to be renewed. Raises BadArgument."""
    if not isinstance(seconds, int | float) or not 1 <= seconds <= 604800:
        raise BadArgument(f"lease_duration is a number of seconds from 1 to 604800 (7 days), not {seconds!r}")


def complete(dsn: str | None, timeout: float) -> str:
    """The DSN, HOWDAH_DSN or the embedded server's, with a timeout and a name for what it leaves open.

    A passfile that the DSN or HOWDAH_PASSFILE names must be its owner's alone. Raises CannotConnect if it is none.
    """
    dsn = configured(dsn)
    defaults: dict[str, Any] = {"connect_timeout": max(2, int(timeout)), "fallback_application_name": "howdah"}
    try:
        found = defaults | read(dsn)
        passfile = found.get("passfile") or os.environ.get(VARIABLE)
        if passfile:
            found["passfile"] = checked(str(passfile))
        return canonical(dsn, **found)
    except BadDsnError as error:
        raise CannotConnect(str(error), CHECK_DSN) from None
    except LooseFileError as error:
        raise CannotConnect(str(error), "Make it yours alone: chmod 600.") from None


def configured(dsn: str | None) -> str:
    """The DSN; if there is none, HOWDAH_DSN or the embedded server's. Raises CannotConnect if that is none either."""
    if dsn is not None:
        return dsn
    from .embedded import default_dsn

    return default_dsn()


def _reached(conninfo: str, reconnection: Reconnection | None) -> PgConnection:
    """Connect for the first time. Raises CannotConnect after the last attempt."""
    pauses = iter(()) if reconnection is None else reconnection.pauses()
    while True:
        try:
            return psycopg.connect(conninfo)
        except psycopg.Error as error:
            pause = next(pauses, None)
            if pause is None:
                raise cannot_connect(error) from error
            time.sleep(pause)


def _alone(conninfo: str, beginning: Beginning) -> PgConnection:
    """Return a database connection that only has to exist."""
    connection = psycopg.connect(make_conninfo(conninfo, **KEEPALIVES), autocommit=True)
    beginning.begin(connection)
    return connection
