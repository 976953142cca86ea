"""The same calls for asyncio: sessions over psycopg's or SQLAlchemy's async connections.

tools/make_sync.py writes most of the synchronous engine from these modules.
"""

from .admin import AsyncAdmin
from .connecting import connect_async
from .connection import AsyncConnection
from .jms import AsyncAckConsumer, AsyncAckSession
from .leases import AsyncLeases
from .producer import AsyncBrowser, AsyncConsumer, AsyncProducer
from .requests import AsyncRequestor
from .session import AsyncSession
from .shared import AsyncSharedConsumer, AsyncSharedConsumers

__all__ = [
    "AsyncAckConsumer",
    "AsyncAckSession",
    "AsyncAdmin",
    "AsyncBrowser",
    "AsyncConnection",
    "AsyncConsumer",
    "AsyncLeases",
    "AsyncProducer",
    "AsyncRequestor",
    "AsyncSession",
    "AsyncSharedConsumer",
    "AsyncSharedConsumers",
    "connect_async",
]
