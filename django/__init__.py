"""Howdah for Django: a backend of its Tasks, ``manage.py howdah``, and the console behind the staff's log-in.

``howdah.django`` is an application for INSTALLED_APPS, and ``howdah.django.Backend`` a backend for TASKS. The backend
is that of ``django.tasks`` (Django 6.0 and later), else of the package ``django-tasks``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import Backend

__all__ = ["Backend"]


def __getattr__(name: str) -> Any:
    """Import the backend when it is asked for: Django imports this module before its settings are complete."""
    if name == "Backend":
        from .backend import Backend

        return Backend
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
