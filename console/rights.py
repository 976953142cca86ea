"""Which acts a person is offered: those that the person's role may carry out. The database has the last word."""

from __future__ import annotations

from .acts import ACTS
from .database import Work

#: The function of an act, if its name differs.
_FUNCTIONS = {
    "send": "send_by_hand",
    "purge": "purge_queue",
    "move": "move_messages",
    "park": "park_messages",
    "edit": "replay_edited",
    "seek": "seek_subscription",
    "end-consumer": "close_consumer",
}
#: The right to the queue that an act needs. Others depend on something else, such as whose the schedule is.
_RIGHTS = {
    "send": "send",
    **dict.fromkeys(("pause", "resume", "purge", "retry", "replay", "move", "park", "discard", "edit"), "admin"),
    "replay-kept": "admin",
    "delete-kept": "admin",
    "end-consumer": "receive",
}


def offered(work: Work, queue: str | None = None) -> frozenset[str]:
    """Names of the acts that this person's role may carry out: on that queue, or somewhere."""
    functions = {act: _FUNCTIONS.get(act, act.replace("-", "_")) for act in ACTS}
    callable_ = work.callable_among(list(functions.values()))
    may = frozenset(act for act, function in functions.items() if function in callable_)
    rights = work.scalar("my_rights", queue=("text", queue)) if may and queue else None
    return may if rights is None else frozenset(act for act in may if _RIGHTS.get(act, "") in {"", *rights})
