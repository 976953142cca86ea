"""What a connection has to administer with, each by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from ...calls import Call
from .access import AsyncAccess
from .archives import AsyncArchives
from .audits import AsyncAudits
from .changes import AsyncChanges
from .imports import AsyncImports
from .instances import AsyncInstances
from .links import AsyncLinks
from .logs import AsyncLogs
from .objects import AsyncObjects
from .schedules import AsyncSchedules
from .services import AsyncServices

T = TypeVar("T")


class AsyncAdministration(ABC):
    """Administration over a connection. Each call is a transaction of its own."""

    @abstractmethod
    async def call(self, call: Call[T]) -> T:
        """Run one call in its own transaction."""

    @property
    def schedules(self) -> AsyncSchedules:
        """Schedules: add, list, cancel, pause, resume. Also delayed messages."""
        return AsyncSchedules(self.call)

    @property
    def access(self) -> AsyncAccess:
        """Access rules and sets of them: who may do what, and why."""
        return AsyncAccess(self.call)

    @property
    def links(self) -> AsyncLinks:
        """Links to other engines: create, alter, list, pause, resume, rebase, drop. Also links that lead here."""
        return AsyncLinks(self.call)

    @property
    def imports(self) -> AsyncImports:
        """Copies from stores of other systems: begin, messages, withdraw, read, finish, list, forget."""
        return AsyncImports(self.call)

    @property
    def changes(self) -> AsyncChanges:
        """What administrators changed: list, show, read, undo, backup, restore."""
        return AsyncChanges(self.call)

    @property
    def instances(self) -> AsyncInstances:
        """Instances and their cluster: list, quiesce, resume, end, set_cluster, change_master."""
        return AsyncInstances(self.call)

    @property
    def objects(self) -> AsyncObjects:
        """Administered objects: create, alter, list, drop, and documents for a repository."""
        return AsyncObjects(self.call)

    @property
    def services(self) -> AsyncServices:
        """Services: list, alter."""
        return AsyncServices(self.call)

    @property
    def archives(self) -> AsyncArchives:
        """The archive: its finished runs, and messages restored from it."""
        return AsyncArchives(self.call)

    @property
    def logs(self) -> AsyncLogs:
        """The log of the engine: write, list, since. Also the metrics."""
        return AsyncLogs(self.call)

    @property
    def audits(self) -> AsyncAudits:
        """Recorded audits: list, last, record. Also the right to audit."""
        return AsyncAudits(self.call)
