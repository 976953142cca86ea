"""What an application's tests import: handmade messages, handlers to run, apps to drain, databases to test on.

Everything runs on a real PostgreSQL and by the worker's own rules. Only ``howdah.testing.plugin`` needs pytest.
"""

from __future__ import annotations

from .databases import Databases, server
from .draining import Drained, DrainError, Failure, drain
from .handling import Ran, run_handler
from .messages import make_message

__all__ = ["Databases", "DrainError", "Drained", "Failure", "Ran", "drain", "make_message", "run_handler", "server"]
