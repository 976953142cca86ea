"""Limits and deduplication keys over a stop and a crash of the server.

What is counted outside transactions may be forgotten, never wrong.
"""

from __future__ import annotations

from typing import Literal

import psycopg
import pytest
from support import Db, one

from howdah.engine.embedded import EmbeddedServer

SEND = "select howdah.send('q', 'x', delivery_mode => %s)"


def opened(server: EmbeddedServer) -> Db:
    return psycopg.connect(server.start().dsn, autocommit=True)


def until_full(db: Db) -> int:
    for accepted in range(1000):
        try:
            one(db, "select howdah.send('q', 'x')")
        except psycopg.Error as error:
            if error.sqlstate not in ("HD018", "HD027"):
                raise
            return accepted
    raise AssertionError("it never was full")


@pytest.mark.first_case
@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_stop_and_a_crash_leave_limits_exact_and_keys_known(
    private_server: EmbeddedServer, how: Literal["fast", "immediate"]
) -> None:
    with opened(private_server) as db:
        one(db, """select howdah.create_queue('q', '{"message_limit": 500}')""")
        one(db, """select howdah.alter_engine('{"max_count": 1000, "red_threshold": 100, "orange_delay_ms": 0}')""")
        one(db, "select howdah.send_batch('q', array_fill('x'::text, array[300]))")
        one(db, SEND, ("non-persistent",))
        first = one(db, "select howdah.send('q', 'x', deduplication_key => 'k')")
    private_server.stop(how)
    with opened(private_server) as db:
        assert one(db, "select howdah.send('q', 'x', deduplication_key => 'k')") == first
        assert until_full(db) == 199
        one(db, """select howdah.create_queue('r')""")
        assert one(db, "select messages from howdah.resource_state()") == 500
        one(db, "select howdah.send_batch('r', array_fill('x'::text, array[500]))")
        assert one(db, "select state from howdah.resource_state()") == "red"
