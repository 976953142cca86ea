"""The same calls for asyncio: sessions over psycopg's or SQLAlchemy's async connections."""

from .connection import AsyncConnection, AsyncSession, connect_async
from .jms import AsyncAckConsumer, AsyncAckSession
from .requests import AsyncRequestor

__all__ = [
    "AsyncAckConsumer",
    "AsyncAckSession",
    "AsyncConnection",
    "AsyncRequestor",
    "AsyncSession",
    "connect_async",
]
