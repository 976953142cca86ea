"""The Python face of the queue. It only calls the SQL functions; no SQL logic lives here.

``connect`` gives a Connection, and its ``session()`` gives the verbs. ``Session(connection)`` works in the
application's own psycopg or SQLAlchemy transaction. ``aio`` is the same for asyncio.

The wings, from the bottom:

- ``errors``
- ``calls``, the door to SQL
- ``database``, which runs calls, and ``handling``, which says what an application's function may do
- ``admin`` and ``sending``
- ``sessions``
- ``jms``, which receives ahead
- ``xa`` and ``objects``, which look factories up
- ``aio``

``embedded`` is a PostgreSQL of one's own.
"""

from __future__ import annotations

from .admin import Admin
from .calls import Call, Incident
from .calls.administered import AdministeredDestination
from .calls.bodies import Body
from .calls.levels import Destination
from .calls.message import Message
from .calls.results import Result
from .calls.typed_map import TypedMap, TypedStream
from .connection import Connection
from .database.reconnection import Reconnection
from .errors import HowdahError, is_innocent
from .factory import ConnectionFactory, connect
from .handling.outcomes import Reject, Retry
from .jms.consumer import AckConsumer
from .jms.holding import Delivery
from .jms.modes import AckMode, AckType
from .jms.prefetch import Prefetch
from .jms.session import AckSession
from .objects import AdministeredFactory, lookup
from .requests import Requestor
from .sessions.producer import Browser, Consumer, Producer
from .sessions.session import Session
from .xa import XAConnectionFactory

__all__ = [
    "AckConsumer",
    "AckMode",
    "AckSession",
    "AckType",
    "Admin",
    "AdministeredDestination",
    "AdministeredFactory",
    "Body",
    "Browser",
    "Call",
    "Connection",
    "ConnectionFactory",
    "Consumer",
    "Delivery",
    "Destination",
    "HowdahError",
    "Incident",
    "Message",
    "Prefetch",
    "Producer",
    "Reconnection",
    "Reject",
    "Requestor",
    "Result",
    "Retry",
    "Session",
    "TypedMap",
    "TypedStream",
    "XAConnectionFactory",
    "connect",
    "is_innocent",
    "lookup",
]
