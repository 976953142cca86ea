"""The instance that a worker process belongs to, as the process knows it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from ..engine.calls.levels import BY_SERVER, LevelMapping


@dataclass(frozen=True)
class Home:
    """One life of an instance, and its exclusive lease if it has one."""

    name: str
    instance_id: UUID
    epoch: int | None = None

    @property
    def fence(self) -> bytes | None:
        """The statement that goes with each COMMIT; None: the instance is not exclusive."""
        if self.epoch is None:
            return None
        return f"select howdah.hold_instance('{self.instance_id}', {self.epoch})".encode()


def levels_at(home: Home | None) -> LevelMapping:
    """How handlers send: with the name of their home."""
    return BY_SERVER if home is None else LevelMapping(home=home.name)
