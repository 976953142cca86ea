"""The administrator's verbs, each to be awaited. ``engine.admin`` is written from them."""

from .admin import AsyncAdmin

__all__ = ["AsyncAdmin"]
