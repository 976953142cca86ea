"""A session that is killed in the middle of a move leaves each message in one queue: where it was, or where it went."""

from __future__ import annotations

import time
from itertools import chain

import chance
import psycopg
import pytest
from support import SYSTEM, Db, column, kill_backend, one

from howdah.engine.embedded import EmbeddedServer

MESSAGES = 60
#: Sessions killed by SIGKILL; the check of WAS-21 asks for 100.
KILLS = 100

#: By queue: the statement that moves all its messages, and that which puts them back as they were.
MOVES = {
    "moved": (
        "select howdah.move_messages('moved', array(select message_id from howdah.browse('moved', 1000)), 'there')",
        "select howdah.move_messages('there', array(select message_id from howdah.browse('there', 1000)), 'moved')",
    ),
    "failing": (
        "select howdah.record_failure('failing', message_id) from howdah.browse('failing', 1000)",
        f"select howdah.replay('{SYSTEM}', array(select message_id from howdah.browse('{SYSTEM}', 1000)))",
    ),
    "met": (
        "select from howdah.receive('met')",
        f"""select howdah.replay('{SYSTEM}', array(select message_id from howdah.browse('{SYSTEM}', 1000)));
        select howdah.record_failure('met', message_id) from howdah.browse('met', 1000)""",
    ),
}


def open_db(server: EmbeddedServer) -> Db:
    return psycopg.connect(server.start().dsn, autocommit=True)


def lying(db: Db, queue: str) -> list[int]:
    return column(db, "select message_id from howdah.browse(%s, 1000)", (queue,))


@pytest.mark.slow
@pytest.mark.behaviour("WAS-21")
def test_a_session_killed_a_hundred_times_during_a_move_neither_loses_nor_doubles_a_message(
    private_server: EmbeddedServer,
) -> None:
    """In turn at a random moment of the statement or its commit, and between the two."""
    dice = chance.dice()
    sent, seconds = {}, {}
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('there')")
        one(db, """select howdah.create_queue('moved')""")
        one(db, """select howdah.create_queue('failing', '{"max_failed_deliveries": 1}')""")
        one(db, """select howdah.create_queue('met', '{"max_failed_deliveries": 1, "decided_at": "receive"}')""")
        for queue, (move, back) in MOVES.items():
            sent[queue] = one(db, "select howdah.send_batch(%s, array_fill('x'::text, array[%s]))", (queue, MESSAGES))
            if queue == "met":
                db.execute("select howdah.record_failure('met', message_id) from howdah.browse('met', 1000)")
            began = time.monotonic()
            db.execute(move.encode())
            seconds[queue] = time.monotonic() - began
            assert lying(db, queue) == []
            db.execute(back.encode())
    everything = sorted(chain.from_iterable(sent.values()))
    outcomes = set()
    for number in range(KILLS):
        queue = list(MOVES)[number % 3]
        move, back = MOVES[queue]
        mover = open_db(private_server)
        between = number % 2 == 1
        if between:
            mover.execute("begin")
            mover.execute(move.encode())
            kill_backend(private_server, mover)
        else:
            kill_backend(private_server, mover, move, dice.uniform(0, 1.5 * seconds[queue]))
        with open_db(private_server) as db:
            assert column(db, "select message_id from howdah.audit_messages order by 1") == everything
            places = {place: lying(db, place) for place in (queue, "there", SYSTEM)}
            left = places.pop(queue)
            went = list(chain.from_iterable(places.values()))
            assert sorted(left + went) == sorted(sent[queue])
            assert not (left and went), "all in one transaction"
            assert left or not between, "what was never committed is undone"
            outcomes.add(bool(went))
            if went:
                db.execute(back.encode())
    assert outcomes == {False, True}, f"killed before and after the commit, in {seconds} seconds"
