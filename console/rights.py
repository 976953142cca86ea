"""Which acts a person is offered: those whose functions the person's role may call. The database has the last word."""

from __future__ import annotations

from .acts import ACTS
from .database import Work

#: The function of an act that is not called like it.
_FUNCTIONS = {
    "send": "send_by_hand",
    "purge": "purge_queue",
    "move": "move_messages",
    "park": "park_messages",
    "edit": "replay_edited",
    "seek": "seek_subscription",
    "end-consumer": "close_consumer",
}


def offered(work: Work) -> frozenset[str]:
    """Names of the acts that this person's role may carry out somewhere."""
    functions = {act: _FUNCTIONS.get(act, act.replace("-", "_")) for act in ACTS}
    callable_ = work.callable_among(list(functions.values()))
    return frozenset(act for act, function in functions.items() if function in callable_)
