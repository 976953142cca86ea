"""Administration, as faces of SQL functions: queues, topics, dead messages, schedules, archives, audits."""

from ..calls.columns import SERVICES
from .admin import Admin

__all__ = ["SERVICES", "Admin"]
