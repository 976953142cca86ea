"""The console: Howdah's pages for people, as an ASGI application of its own or within another.

``app`` makes it. ``people`` says who looks, ``database`` works as that person, ``pages`` and ``acts`` are what is shown
and done, ``live`` is the one poller of a process.
"""

from __future__ import annotations

from .application import app
from .people import Basic, Host, Local, Person, Proxy

__all__ = ["Basic", "Host", "Local", "Person", "Proxy", "app"]
