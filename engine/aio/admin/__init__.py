"""The administrator's verbs, each to be awaited; from these ``engine.admin`` is written."""

from .admin import AsyncAdmin

__all__ = ["AsyncAdmin"]
