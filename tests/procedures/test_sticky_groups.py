"""A sticky group stays with its consumer until that goes or the group ends."""

from __future__ import annotations

import os
import socket
from typing import Any

import pytest
from consumers_support import open_consumer
from groups_support import send, take
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, refused, wait_until


@pytest.fixture
def sticky(create: Create) -> None:
    create("q", message_groups="sticky")


def test_a_sticky_group_stays_with_its_consumer_until_that_is_closed(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1", "b1", "a2", "b2")
    assert take(db, 1, one_) == ["a1"]
    assert take(db, 9, two) == ["b1", "b2"], "a is the other's, though it is idle"
    assert take(db, 9, two) == []
    send(db, "b3", "a3")
    assert take(db, 9, one_) == ["a2", "a3"]
    assert one(db, "select howdah.close_consumer(%s)", (two,)) is True
    assert take(db, 9, one_) == ["b3"]


def headers(db: Db, consumer: int, n: int = 1) -> list[dict[str, Any]]:
    return column(db, "select headers from howdah.receive('q', %s, consumer => %s)", (n, consumer))


def test_the_first_message_of_a_group_new_to_its_consumer_says_so(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1", "a2", "a3")
    assert ["JMSXGroupFirstForConsumer" in h for h in headers(db, one_, 2)] == [True, False]
    one(db, "select howdah.close_consumer(%s)", (one_,))
    assert ["JMSXGroupFirstForConsumer" in h for h in headers(db, two)] == [True]


def test_the_message_behind_one_that_closed_its_group_begins_it_anew_in_one_receive_or_several(
    db: Db, sticky: None
) -> None:
    consumer = open_consumer(db)
    for at_once in (4, 1):
        for number in (1, -1, 3, 4):
            one(
                db,
                "select howdah.send('q', 'x', headers => %s)",
                (Jsonb({"JMSXGroupID": "a", "JMSXGroupSeq": number}),),
            )
        got = [headers(db, consumer, at_once) for _ in range(4 // at_once)]
        marks = ["JMSXGroupFirstForConsumer" in h for some in got for h in some]
        assert marks == [at_once == 4, False, True, False]


def test_a_negative_sequence_number_ends_the_ownership_behind_its_message(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    for body, number in (("1", 1), ("2", -1), ("3", 1)):
        one(
            db,
            "select howdah.send('q', %s, headers => %s)",
            (body, Jsonb({"JMSXGroupID": "a", "JMSXGroupSeq": number})),
        )
    assert take(db, 1, one_) == ["1"]
    assert take(db, 1, two) == []
    assert take(db, 1, one_) == ["2"]
    assert take(db, 1, two) == ["3"]


def test_sequence_number_one_gives_the_group_to_whoever_gets_it(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1")
    assert take(db, 1, one_) == ["a1"]
    one(db, """select howdah.send('q', 'anew', headers => '{"JMSXGroupID": "a", "JMSXGroupSeq": 1}')""")
    send(db, "a2")
    assert take(db, 1, two) == ["anew"]
    assert take(db, 1, one_) == []
    assert take(db, 1, two) == ["a2"]


def test_a_sequence_number_that_is_none_breaks_nothing(db: Db, sticky: None) -> None:
    consumer = open_consumer(db)
    one(db, """select howdah.send('q', 'x', headers => '{"JMSXGroupID": "a", "JMSXGroupSeq": "one"}')""")
    assert take(db, 1, consumer) == ["x"]


def test_a_rolled_back_receive_gives_back_the_ownership_too(db: Db, sticky: None) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1")
    with db.transaction(force_rollback=True):
        assert take(db, 1, one_) == ["a1"]
    assert take(db, 1, two) == ["a1"]


def test_groups_of_a_consumer_that_fell_silent_go_to_the_others(db: Db, sticky: None, clock: Clock) -> None:
    one_, two = open_consumer(db), open_consumer(db)
    send(db, "a1", "a2")
    assert take(db, 1, one_) == ["a1"]
    clock.advance(50)
    assert take(db, 1, two) == []
    clock.advance(20)
    assert take(db, 1, two) == ["a2"]
    refused(db, "HD032", "select howdah.receive('q', consumer => %s)", (one_,))


@pytest.mark.parametrize("how", ["the server ends its session", "its process is killed"])
def test_groups_of_a_consumer_that_is_killed_move_to_another_at_once_and_in_order(
    db: Db, sticky: None, connect: Connect, clock: Clock, how: str
) -> None:
    """The clock stands still: nothing waits for a timeout."""
    doomed = connect()
    pid = doomed.info.backend_pid
    one_, two = open_consumer(doomed, own_session=True), open_consumer(db)
    send(db, "a1", "b1", "a2", "b2", "a3", "c1")
    assert take(doomed, 2, one_) == ["a1", "b1"]
    doomed.execute("begin")
    assert take(doomed, 2, one_) == ["a2", "b2"]
    assert take(db, 9, two) == ["c1"]
    if how == "its process is killed":
        with socket.socket(fileno=os.dup(doomed.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)  # all that the server hears of it
    else:
        one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) = 0 from pg_stat_activity where pid = %s", (pid,)))
    send(db, "b3")
    assert take(db, 9, two) == ["a2", "b2", "a3", "b3"]
    assert column(db, "select consumer from howdah.list_consumers('q')") == [two]
    assert one(db, "select groups from howdah.list_consumers('q')") == 3


def test_a_sticky_queue_needs_a_consumer(db: Db, sticky: None) -> None:
    send(db, "a1")
    refused(db, "HD032", "select howdah.receive('q')")
