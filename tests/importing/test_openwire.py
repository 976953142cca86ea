"""OpenWire as ActiveMQ stores it, from recorded bytes: every version, and anything that is none."""

from __future__ import annotations

import json
import random
from contextlib import suppress

import pytest
from activemq_broker import RECORDED

from howdah.cli.importing.openwire import OpenWireError, decode
from howdah.cli.importing.openwire.bodies import body

ROWS = [bytes.fromhex(row[5]) for row in json.loads(RECORDED.read_text())["msgs"]]


def older(data: bytes, version: int) -> bytes:
    """The same message as an earlier version wrote it: without the fields that came later."""
    data = data[4:].replace(b"\x01\x6e\x00\x01\x7b", b"\x01\x6e\x01\x7b", 1)[
        :-1
    ]  # 10: text of the id, first of a group
    if version < 3:
        data = data[:-17]  # the cluster, and when the broker had it
    if version < 2:
        data = data[:-1]  # whether it may be dropped
    return len(data).to_bytes(4, "big") + data


@pytest.mark.parametrize("version", [3, 2, 1])
@pytest.mark.parametrize("number", range(len(ROWS)))
def test_every_version_is_read(number: int, version: int) -> None:
    assert decode(older(ROWS[number], version)) == decode(ROWS[number])


def test_bytes_that_are_no_message_are_refused_with_a_reason() -> None:
    for data, reason in ((b"", "4 bytes expected"), (b"\0\0\0\1\x1c\0", "another wire format")):
        with pytest.raises(OpenWireError, match=reason):
            decode(data.ljust(0))
    with pytest.raises(OpenWireError, match="command 5 is no message"):
        decode(b"\0\0\0\1\5")


def test_no_damage_ends_in_another_error() -> None:
    """Each row is cut and garbled; it is read or refused, and nothing else happens."""
    chance = random.Random(26)
    for data in ROWS:
        for _ in range(100):
            broken = bytearray(data[: chance.randrange(len(data) + 1)] if chance.random() < 0.2 else data)
            for _ in range(chance.randrange(1, 4)):
                if broken:
                    broken[chance.randrange(len(broken))] = chance.randrange(256)
            with suppress(OpenWireError):
                body(decode(bytes(broken)))
