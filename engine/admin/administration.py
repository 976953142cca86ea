# Written by tools/make_sync.py from engine/aio/admin/administration.py: change that, and run make sync.
"""What a connection has to administer with, each by its name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from ..calls import Call
from .access import Access
from .archives import Archives
from .audits import Audits
from .changes import Changes
from .imports import Imports
from .instances import Instances
from .links import Links
from .logs import Logs
from .objects import Objects
from .schedules import Schedules
from .services import Services

T = TypeVar("T")


class Administration(ABC):
    """Administration over a connection. Each call is a transaction of its own."""

    @abstractmethod
    def call(self, call: Call[T]) -> T:
        """Run one call in its own transaction."""

    @property
    def schedules(self) -> Schedules:
        """Schedules: add, list, cancel, pause, resume. Also delayed messages."""
        return Schedules(self.call)

    @property
    def access(self) -> Access:
        """Access rules and sets of them: who may do what, and why."""
        return Access(self.call)

    @property
    def links(self) -> Links:
        """Links to other engines: create, alter, list, pause, resume, rebase, drop. Also links that lead here."""
        return Links(self.call)

    @property
    def imports(self) -> Imports:
        """Copies from stores of other systems: begin, messages, withdraw, read, finish, list, forget."""
        return Imports(self.call)

    @property
    def changes(self) -> Changes:
        """What administrators changed: list, show, read, undo, backup, restore."""
        return Changes(self.call)

    @property
    def instances(self) -> Instances:
        """Instances and their cluster: list, quiesce, resume, end, set_cluster, change_master."""
        return Instances(self.call)

    @property
    def objects(self) -> Objects:
        """Administered objects: create, alter, list, drop, and documents for a repository."""
        return Objects(self.call)

    @property
    def services(self) -> Services:
        """Services: list, alter."""
        return Services(self.call)

    @property
    def archives(self) -> Archives:
        """The archive: its finished runs, and messages restored from it."""
        return Archives(self.call)

    @property
    def logs(self) -> Logs:
        """The log of the engine: write, list, since. Also the metrics."""
        return Logs(self.call)

    @property
    def audits(self) -> Audits:
        """Recorded audits: list, last, record. Also the right to audit."""
        return Audits(self.call)
