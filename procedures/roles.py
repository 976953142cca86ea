"""The roles that own and use Howdah."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Roles:
    """Names of the roles that own and use Howdah. All equal: one-role mode."""

    owner: str = "howdah_owner"
    admin: str = "howdah_admin"
    producer: str = "howdah_producer"
    consumer: str = "howdah_consumer"
    browser: str = "howdah_browser"
    auditor: str = "howdah_auditor"

    @classmethod
    def with_prefix(cls, prefix: str) -> Roles:
        """The six roles under another prefix than ``howdah``."""
        return cls(*(f"{prefix}_{kind}" for kind in ("owner", "admin", "producer", "consumer", "browser", "auditor")))

    @classmethod
    def one(cls, name: str) -> Roles:
        """One-role mode: the installing role owns and uses everything, and nobody else may."""
        return cls(name, name, name, name, name, name)

    @property
    def nobody(self) -> str:
        """The role without rights as which poison procedures are called. One-role mode has no role but the owner."""
        return self.owner if self.is_one else f"{self.owner.removesuffix('_owner')}_nobody"

    @property
    def is_one(self) -> bool:
        """Whether this is one-role mode."""
        return self.owner == self.admin

    def users(self) -> dict[str, str]:
        """The roles other than the owner, by what they are for."""
        return {kind: name for kind, name in asdict(self).items() if kind != "owner"}
