"""Leases, for importing: what one is, the calls of a session, and the verbs of a connection."""

from .calls.leases import Lease, acknowledge, lease
from .sessions.leases import Leases

__all__ = ["Lease", "Leases", "acknowledge", "lease"]
