"""The embedded PostgreSQL server: it needs no administrator, and its files lie in one folder."""

from .layout import EmbeddedServerError, default_folder
from .server import EmbeddedServer, ServerInfo, default_dsn, running

__all__ = ["EmbeddedServer", "EmbeddedServerError", "ServerInfo", "default_dsn", "default_folder", "running"]
