"""The application, for INSTALLED_APPS."""

from __future__ import annotations

from django.apps import AppConfig


class HowdahConfig(AppConfig):  # type: ignore[misc]
    """It has no models: Howdah's tables have migrations of their own (``manage.py howdah migrate``)."""

    name = "howdah.django"
    label = "howdah"
    verbose_name = "Howdah"
