"""The calls that connect with a service, and what they say of it."""

from __future__ import annotations

from dataclasses import dataclass

from .call import Call

COLUMNS = (
    "service, kind, active, unavailable, access_enabled, rule_set, roles, require_tls, min_connections,"
    " max_connections, idle_seconds, model, monitor_limit, comment"
)


@dataclass(frozen=True, slots=True)
class Service:
    """A service, as a client that has connected with it knows it."""

    name: str
    #: NORMAL or ADMIN.
    kind: str
    #: dedicated: each session has two database connections. shared: sessions share those that wait.
    model: str
    min_connections: int
    max_connections: int
    idle_seconds: int
    #: Consumers that one waiting connection serves at most; 0: any number.
    monitor_limit: int

    @property
    def dedicated(self) -> bool:
        """Whether each session has a database connection of its own that waits."""
        return self.model == "dedicated"


def connect_service(name: str) -> Call[Service]:
    """Let a database session belong to a service. Commit it: a rollback takes it back."""
    return Call(
        "select service, kind, model, min_connections, max_connections, idle_seconds, monitor_limit"
        " from howdah.connect_service(%s::text)",
        (name,),
        lambda rows: Service(*rows[0]),
    )
