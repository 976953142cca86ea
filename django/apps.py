"""The application, for INSTALLED_APPS."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

from django.apps import AppConfig


class HowdahConfig(AppConfig):  # type: ignore[misc]
    """It has no models: Howdah's tables have migrations of their own (``manage.py howdah migrate``)."""

    name = "howdah.django"
    label = "howdah"
    verbose_name = "Howdah"

    def ready(self) -> None:
        """Let ``manage.py check`` ask backends: Django 6 has that check, and does not load it."""
        with suppress(ImportError):
            import_module("django.tasks.checks")
