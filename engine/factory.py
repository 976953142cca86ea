"""How connections are made: by DSN, by the application's own pool, or by a factory that keeps the settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from .calls.levels import LevelMapping
from .calls.services import Service
from .connection import Connection
from .database.client_id import ClaimedClientId, LentClientId
from .database.loans import PgConnection
from .database.pooling import Sizes
from .database.reconnection import Reconnection
from .database.reliability import ReliabilityConnection
from .jms.prefetch import Prefetch
from .plan import ConnectSettings, Plan, complete, configured, of_pool, split_url


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
    given: ConnectSettings = {
        "min_size": min_size,
        "max_size": max_size,
        "timeout": timeout,
        "role": role,
        "prepare": prepare,
        "max_redeliveries": max_redeliveries,
        "prefetch": prefetch,
        "lease_duration": lease_duration,
        "client_id": client_id,
        "commit_by_reliability": commit_by_reliability,
        "instance": instance,
        "service": service,
        "reconnection": reconnection,
    }
    if pool is not None:
        levels, own = LevelMapping(home=instance), _of_sessions(of_pool(given, dsn=dsn))
        return Connection(pool, owns_pool=False, started=started, levels=levels, **own)
    plan = Plan.of(dsn, given)
    chosen = plan.probe()
    return opened(plan, plan.sizes(chosen), chosen, plan.claim(), started=started)


def opened(
    plan: Plan, sizes: Sizes, service: Service | None, claim: ClaimedClientId | LentClientId | None, *, started: bool
) -> Connection:
    """Open a pool and make a connection over it. It releases the claim when it is closed."""
    by_reliability = plan.settings.get("commit_by_reliability")
    pool: ConnectionPool[PgConnection] = ConnectionPool(
        connection_class=ReliabilityConnection if by_reliability else psycopg.Connection,
        configure=plan.beginning.configure,
        **plan.pool(sizes),
    )
    pool.open()
    return Connection(
        pool,
        owns_pool=True,
        started=started,
        client_id=claim,
        levels=plan.levels,
        service=service,
        **_of_sessions(plan.settings),
    )


def _of_sessions(settings: ConnectSettings) -> dict[str, Any]:
    """The settings that a connection keeps for its sessions."""
    names = ("max_redeliveries", "prefetch", "lease_duration", "reconnection")
    return {name: value for name, value in settings.items() if name in names}


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
