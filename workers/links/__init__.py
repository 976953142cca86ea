"""Forwards messages to other engines, in every worker process and in ``howdah link run``."""

from .forwarder import Forwarder
from .runner import Links

__all__ = ["Forwarder", "Links"]
