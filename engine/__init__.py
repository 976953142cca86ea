"""The Python face of the queue: it only calls the SQL functions, no SQL logic lives here.

``connect`` gives a Connection, its ``session()`` the verbs. ``Session(connection)`` works in the application's own
psycopg or SQLAlchemy transaction, ``aio`` is the same for asyncio.
"""

from __future__ import annotations

from .admin import Admin
from .calls import Body, Call, Incident
from .connection import Connection, ConnectionFactory, connect
from .errors import HowdahError, is_innocent
from .message import Message
from .producer import Browser, Consumer, Producer
from .session import Session

__all__ = [
    "Admin",
    "Body",
    "Browser",
    "Call",
    "Connection",
    "ConnectionFactory",
    "Consumer",
    "HowdahError",
    "Incident",
    "Message",
    "Producer",
    "Session",
    "connect",
    "is_innocent",
]
