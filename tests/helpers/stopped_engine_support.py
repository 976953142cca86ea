"""What tests of a stopped engine import: its state, a stop, and the way into each state."""

from __future__ import annotations

from support import Db, one

STATE = "select state from howdah.engine_state()"

STOP = "select state from howdah.stop_engine(interval '%s seconds')"


def stopped(db: Db, seconds: float = 10) -> str:
    """The state after the call that quiesces, and the call that stops."""
    one(db, STOP % 0)
    return str(one(db, STOP % seconds))


def enter(db: Db, state: str) -> None:
    """Put the engine into a state by its own verb."""
    if state == "stopped":
        assert stopped(db) == "stopped"
    else:
        verb = {"paused": "pause", "quiesced": "quiesce"}[state]
        assert one(db, f"select howdah.{verb}_engine()") is True
