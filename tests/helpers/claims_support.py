"""What tests of claims import: sends to a lane, receives by number, and what they read."""

from __future__ import annotations

import pytest
from support import Db, measured, one, receive


def send(db: Db, number: int = 1, extra: str = "") -> list[int]:
    ids: list[int] = one(
        db,
        f"select howdah.send_batch('q', array_fill('x'::text, array[n]){extra}) from (values (%s::integer)) v(n)",
        (number,),
    )
    return ids


def ids(db: Db, number: int) -> list[int]:
    return [message.message_id for message in receive(db, n=number)]


def buffers(db: Db, number: int) -> int:
    """Buffers that one receive touches."""
    return int(measured(db, f"select howdah.receive('q', {number})")["Buffers"])


HIGHER = ", priorities => array_fill(7, array[n])"

LANES = pytest.mark.parametrize(
    "lane",
    ["", ", delivery_mode => 'non-persistent'", ", delay => '1 us'", HIGHER],
    ids=["ready", "non-persistent", "parked", "higher"],
)
