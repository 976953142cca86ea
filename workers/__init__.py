"""The runtime: an App's handlers run in sessions (threads) of worker processes, watched by a supervisor.

``loop`` polls. ``delivery`` receives, handles and commits a message, or rolls back and records the failure outside.
``in_hand`` tells the ``supervisor`` what a killed process held.
"""

from __future__ import annotations

from ..engine import Message, Reject, Retry
from ..engine.handling.outcomes import Rule
from .app import App, AppError, load
from .supervisor import Supervisor
from .time_limits import HandlerTimeout
from .transaction import Transaction

__all__ = [
    "App",
    "AppError",
    "HandlerTimeout",
    "Message",
    "Reject",
    "Retry",
    "Rule",
    "Supervisor",
    "Transaction",
    "load",
]
