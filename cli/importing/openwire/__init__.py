"""Read messages as ActiveMQ stores them: OpenWire commands in the loose encoding, of any version."""

from .messages import OpenWireError, StoredMessage, decode

__all__ = ["OpenWireError", "StoredMessage", "decode"]
