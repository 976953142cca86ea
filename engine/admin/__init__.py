"""The administrator's verbs, each a face of SQL functions: queues, topics, dead messages, schedules, archives, audits."""

from .admin import SERVICES, Admin

__all__ = ["SERVICES", "Admin"]
