"""What an application's own tests import: messages made by hand, handlers run on them, apps drained, databases to do it in.

Everything runs on a real PostgreSQL and by the worker's own rules. Nothing here needs pytest but ``howdah.testing.plugin``.
"""

from __future__ import annotations

from .databases import Databases, server
from .draining import Drained, DrainError, Failure, drain
from .handling import Ran, run_handler
from .messages import make_message

__all__ = ["Databases", "DrainError", "Drained", "Failure", "Ran", "drain", "make_message", "run_handler", "server"]
