"""Read messages as ActiveMQ stores them: OpenWire commands in the loose encoding, of any version."""

from .messages import StoredMessage, decode
from .reader import OpenWireError

__all__ = ["OpenWireError", "StoredMessage", "decode"]
