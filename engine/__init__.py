"""The Python face of the queue: it only calls the SQL functions, no SQL logic lives here.

``connect`` gives a Connection, its ``session()`` the verbs. ``Session(connection)`` works in the application's own
psycopg or SQLAlchemy transaction, ``aio`` is the same for asyncio.
"""

from __future__ import annotations

from .admin import Admin
from .bodies import Body
from .calls import Call, Incident
from .connection import Connection
from .errors import HowdahError, is_innocent
from .factory import ConnectionFactory, connect
from .message import Message
from .outcomes import Reject, Retry
from .producer import Browser, Consumer, Producer
from .session import Session
from .typed_map import TypedMap

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
    "Reject",
    "Retry",
    "Session",
    "TypedMap",
    "connect",
    "is_innocent",
]
