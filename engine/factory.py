"""How connections are made: by DSN, by the application's own pool, or by a factory that keeps the settings."""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, Unpack
from urllib.parse import parse_qsl

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from ..text.dsn import BadDsnError, canonical, read
from ..text.passfile import VARIABLE, LooseFileError, checked
from .calls.levels import LevelMapping
from .calls.services import Service
from .connection import Connection
from .database.client_id import ClaimedClientId
from .database.loans import PgConnection
from .database.pooling import Beginning, Sizes
from .database.reconnection import Reconnection
from .database.reliability import ReliabilityConnection
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


def connect(
    dsn: str | None = None,
    *,
    pool: ConnectionPool[PgConnection] | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    timeout: float = 30,
    started: bool = True,
    role: str | None = None,
    prepare: bool = True,
    max_redeliveries: int | None = None,
    prefetch: Prefetch | None = None,
    lease_duration: float = 60,
    client_id: str | None = None,
    commit_by_reliability: bool = False,
    instance: str | None = None,
    service: str | None = None,
    reconnection: Reconnection | None = None,
) -> Connection:
    """Connect by DSN or by the application's own pool.

    - dsn: in libpq's or SQLAlchemy's form. None is HOWDAH_DSN, else the embedded server, if it runs.
    - min_size, max_size: database connections kept and allowed, 0 and 10 unless the service says otherwise.
    - timeout: seconds to wait for one.
    - role: SET ROLE on each connection.
    - prepare: False where a pooler in transaction mode (PgBouncer before 1.21) loses prepared statements.
    - max_redeliveries: listeners of ``session()`` reject a message that failed after so many redeliveries, whatever its
      queue's limit.
      -1 is never. In a URL: ``jms.redeliveryPolicy.maximumRedeliveries=6``.
    - prefetch: how far sessions with an acknowledge mode receive ahead. In a URL:
      ``jms.prefetchPolicy.queuePrefetch=100``.
    - lease_duration: seconds after which what such a session holds comes back if this process dies.
    - client_id: claimed while the connection is open, for all that it publishes and subscribes to. It takes one more
      database connection. It does not work behind a pooler that shares sessions, nor with the application's own pool.
      In a URL: ``jms.clientID=desk7``.
    - commit_by_reliability: the connection's transactions hold only messages, or what may be lost with them. A commit
      then waits as long as its most reliable message needs: docs/reliability.md.
    - instance: the home of what the connection sends and of its consumers: docs/instances.md.
    - service: connect with this service, such as jms or admin: docs/services.md. None: with none, and with all that the
      role allows.
    - reconnection: go on after lost connections; docs/objects.md says what that means for a transaction.

    A DSN may name several hosts, tried in order: host=a,b target_session_attrs=read-write. It may name a file of
    passwords, passfile=…, as HOWDAH_PASSFILE may: a file that others may read is refused.
    Raises CannotConnect if the server does not answer, BadArgument for wrong sizes, NotAllowed for a role not granted,
    ServiceUnavailable, ClientIdInUse.
    """
    dsn, said = split_url(
        dsn if pool is not None else configured(dsn),
        {"max_redeliveries": max_redeliveries, "prefetch": prefetch, "client_id": client_id},
    )
    client_id = said["client_id"]
    check_duration(lease_duration)
    settings: dict[str, Any] = {
        "started": started,
        "max_redeliveries": said["max_redeliveries"],
        "prefetch": said["prefetch"],
        "lease_duration": lease_duration,
        "levels": LevelMapping(home=instance),
        "reconnection": reconnection,
    }
    if pool is not None:
        _refuse_with_pool(commit_by_reliability=commit_by_reliability, client_id=client_id, service=service)
        return Connection(pool, owns_pool=False, **settings)
    if service is None:
        Sizes.of(min_size, max_size)
    conninfo = complete(dsn, timeout)
    beginning = Beginning(role, client_id, service)
    chosen = _probed(conninfo, beginning, reconnection)
    sizes = Sizes.of(min_size, max_size, chosen)
    claim = None if client_id is None else ClaimedClientId(client_id, partial(alone, conninfo, beginning))
    made: ConnectionPool[PgConnection] = ConnectionPool(
        conninfo,
        kwargs=pool_settings(prepare),
        min_size=sizes.min_size,
        max_size=sizes.max_size,
        max_idle=sizes.max_idle,
        timeout=timeout,
        open=False,
        connection_class=ReliabilityConnection if commit_by_reliability else psycopg.Connection,
        configure=beginning.configure,
        name="howdah",
    )
    made.open()
    return Connection(made, owns_pool=True, client_id=claim, service=chosen, **settings)


def _refuse_with_pool(**given: object) -> None:
    """Refuse settings that do not go with an application's own pool. Raises BadArgument."""
    hints = {
        "commit_by_reliability": "or say set local howdah.commit_by_reliability = on in each transaction.",
        "client_id": "whoever else uses the pool would publish under it.",
        "service": "or have the pool call howdah.connect_service for each of its connections.",
    }
    for name, hint in hints.items():
        if given[name] not in (None, False):
            separator = ", " if hint.startswith("or ") else ": "
            raise BadArgument(
                f"{name} does not go with a pool of the application's own", f"Connect by DSN{separator}{hint}"
            )


def _probed(conninfo: str, beginning: Beginning, reconnection: Reconnection | None) -> Service | None:
    """The service of a first connection, by which errors show at once."""
    with reach(conninfo, reconnection) as probe, translated():
        return beginning.begin(probe)


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


def pool_settings(prepare: bool) -> dict[str, Any]:
    """What every connection of a pool is made with."""
    return {} if prepare else {"prepare_threshold": None}


def reach(conninfo: str, reconnection: Reconnection | None) -> PgConnection:
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


def alone(conninfo: str, beginning: Beginning) -> PgConnection:
    """Return a database connection that only has to exist."""
    connection = psycopg.connect(make_conninfo(conninfo, **KEEPALIVES), autocommit=True)
    beginning.begin(connection)
    return connection


class ConnectionFactory:
    """Settings for connections that are created stopped, as JMS has it."""

    def __init__(
        self,
        dsn: str | None = None,
        user: str | None = None,
        password: str | None = None,
        persistent_mapping: str = "RELIABLE_PERSISTENT",
        nonpersistent_mapping: str = "EXPRESS_NONPERSISTENT",
        **settings: Unpack[ConnectSettings],
    ) -> None:
        """Without a DSN, HOWDAH_DSN or the embedded server's; settings as of ``connect``.

        The mappings are the levels of reliability that the two delivery modes stand for, persistent being that of a
        send without one. The defaults are WebSphere's. Raises BadArgument for a level that is not of its mode.
        """
        self._levels = LevelMapping(persistent_mapping, nonpersistent_mapping)
        self._dsn = dsn
        self._account = {name: value for name, value in (("user", user), ("password", password)) if value is not None}
        self._settings = settings

    def create_connection(self) -> Connection:
        """A new connection, stopped: call ``start`` when its consumers are ready. Raises as ``connect``."""
        dsn, settings = split_url(configured(self._dsn), self._settings)
        if self._account:
            dsn = make_conninfo(complete(dsn, settings.get("timeout", 30)), **self._account)
        connection = connect(dsn, started=False, **settings)
        connection.levels = replace(self._levels, home=connection.levels.home)
        return connection
