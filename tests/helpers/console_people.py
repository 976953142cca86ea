"""People of the console's tests."""

from __future__ import annotations

from starlette.requests import Request

from howdah.console import Person

ROLES = {"operator": "howdah_admin", "auditor": "howdah_auditor", "browser": "howdah_browser", "nobody": None}
"""Who looks, and which of Howdah's roles they have."""

PASSWORD = "correct horse"


def as_named(request: Request) -> Person:
    """The person of a test's request, as an application would say it."""
    return person_named(request.headers["x-test-person"])


def person_named(name: str) -> Person:
    """One of the people."""
    return Person(f"{name}@example.org", role=f"console_{name}")
