"""A limit of the whole engine holds to the message and to the byte, in all queues together."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from full_queue_support import SEND
from policy_support import Create
from resource_states_support import limit, until_full
from support import Connect, Db, column, one, receive, refused, wait_until_blocked


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create()
    create("r")


@pytest.mark.behaviour("IMQ-42")
def test_thirty_two_producers_at_once_over_two_queues_fill_the_engine_exactly(db: Db, connect: Connect) -> None:
    limit(db, '{"imq.system.max_count": 100, "imq.red.threshold": 100, "orange_delay_ms": 0}')
    start = threading.Barrier(32)

    def produce(number: int) -> int:
        session = sessions[number]
        start.wait()
        for accepted in range(1000):
            try:
                one(session, "select howdah.send(%s, 'x')", ("qr"[number % 2],))
            except psycopg.Error as error:
                if error.sqlstate != "HD027":
                    raise
                return accepted
        raise AssertionError("it never was full")

    sessions = [connect() for _ in range(32)]
    with ThreadPoolExecutor(32) as pool:
        assert sum(pool.map(produce, range(32))) == 100
    assert one(db, "select messages from howdah.resource_state()") == 100


@pytest.mark.behaviour("IMQ-43")
def test_ten_k_is_10240_bytes_and_the_byte_beyond_is_refused(db: Db) -> None:
    limit(db, '{"imq.system.max_size": "10k", "imq.red.threshold": 100, "orange_delay_ms": 0}')
    assert one(db, "select max_bytes from howdah.resource_state()") == 10240
    one(db, SEND, ("x" * 10000,))
    refused(db, "HD027", SEND, ("x" * 241,))
    one(db, "select howdah.send('r', %s)", ("x" * 240,))
    refused(db, "HD027", SEND, ("x",))


@pytest.mark.behaviour("IMQ-43")
@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("5m", 5242880),
        ("5M", 5242880),
        ("7b", 7),
        ("7", 7),
        (7, 7),
        ("1k", 1024),
        ("0", None),
        (-1, None),
        ("0k", None),
    ],
)
def test_sizes_have_units(db: Db, size: str | int, expected: int | None) -> None:
    one(db, "select howdah.alter_engine(jsonb_build_object('max_size', %s::text))", (str(size),))
    assert one(db, "select howdah.engine_options() -> 'max_size'") == expected


@pytest.mark.parametrize(
    "options",
    [
        '{"max_size": "10g"}', '{"max_size": "k"}', '{"max_size": -2}', '{"max_count": "many"}', '{"max_count": -2}',
        '{"max_count": 1.5}', '{"red_threshold": 101}', '{"red_threshold": 0}', '{"red_threshold": 50}',
        '{"orange_delay_ms": -1}', '{"no_such": 1}', "[]", '{"yellow_threshold": null}',
    ],
)  # fmt: skip
def test_a_wrong_option_is_refused_with_a_hint(db: Db, options: str) -> None:
    before = one(db, "select howdah.engine_options()")
    assert refused(db, "HD004", "select howdah.alter_engine(%s::jsonb)", (options,)).message_hint
    assert one(db, "select howdah.engine_options()") == before


def test_what_the_options_say_can_be_given_back(db: Db) -> None:
    for options in ("{}", '{"max_count": 5, "max_size": "3k"}'):
        limit(db, options)
        one(db, "select howdah.alter_engine(howdah.engine_options())")
    assert one(db, "select max_bytes from howdah.resource_state()") == 3072


def test_a_queues_own_limit_and_the_engines_both_hold(db: Db, create: Create) -> None:
    create("small", message_limit=2)
    limit(db, '{"max_count": 4, "red_threshold": 100, "orange_delay_ms": 0}')
    for _ in range(2):
        one(db, "select howdah.send('small', 'x')")
    refused(db, "HD018", "select howdah.send('small', 'x')")
    assert until_full(db) == 2
    receive(db, "small")
    one(db, SEND, ("x",))
    refused(db, "HD027", "select howdah.send('small', 'x')")


def test_a_queue_made_under_a_limit_of_the_engine_is_held_to_it(db: Db, create: Create) -> None:
    limit(db, '{"max_count": 1, "red_threshold": 100, "orange_delay_ms": 0}')
    create("later")
    one(db, "select howdah.send('later', 'x')")
    refused(db, "HD027", "select howdah.send('later', 'x')")


def test_without_a_limit_of_the_engine_a_send_looks_at_none(db: Db) -> None:
    limit(db, '{"max_count": 5}')
    limit(db, '{"max_count": 0}')
    assert column(db, "select name from howdah.destinations where room is not null") == []


def test_a_limit_set_while_a_queue_is_being_made_holds_for_that_queue_too(db: Db, connect: Connect) -> None:
    maker, setter = connect(), connect()
    maker.execute("begin")
    one(maker, "select howdah.create_queue('meanwhile')")
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(limit, setter, '{"max_count": 1, "red_threshold": 100, "orange_delay_ms": 0}')
        wait_until_blocked(db, setter)
        maker.execute("commit")
        done.result(10)
    one(db, "select howdah.send('meanwhile', 'x')")
    refused(db, "HD027", "select howdah.send('meanwhile', 'x')")
