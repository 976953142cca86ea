"""The Python face of the queue: it only calls the SQL functions, no SQL logic lives here.

``connect`` gives a Connection, its ``session()`` the verbs. ``Session(connection)`` works in the application's own
psycopg or SQLAlchemy transaction, ``aio`` is the same for asyncio.
"""

from __future__ import annotations

from .ack_consumer import AckConsumer
from .ack_session import AckSession
from .admin import Admin
from .bodies import Body
from .calls import Call, Incident
from .connection import Connection
from .errors import HowdahError, is_innocent
from .factory import ConnectionFactory, connect
from .holding import Delivery
from .message import Message
from .modes import AckMode, AckType
from .outcomes import Reject, Retry
from .prefetch import Prefetch
from .producer import Browser, Consumer, Producer
from .requests import Requestor
from .session import Session
from .typed_map import TypedMap, TypedStream

__all__ = [
    "AckConsumer",
    "AckMode",
    "AckSession",
    "AckType",
    "Admin",
    "Body",
    "Browser",
    "Call",
    "Connection",
    "ConnectionFactory",
    "Consumer",
    "Delivery",
    "HowdahError",
    "Incident",
    "Message",
    "Prefetch",
    "Producer",
    "Reject",
    "Requestor",
    "Retry",
    "Session",
    "TypedMap",
    "TypedStream",
    "connect",
    "is_innocent",
]
