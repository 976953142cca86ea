"""Administrators set, change and give up the largest message of the engine, which everybody sees."""

from __future__ import annotations

import json

import pytest
from message_size_support import SEND, holds, limit, takes, topic
from policy_support import Create
from support import Connect, Db, one, refused


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create()


@pytest.mark.behaviour("IMQ-44")
def test_it_is_changed_both_ways_and_given_up_for_all_there_are_at_once(
    db: Db, create: Create, connect: Connect
) -> None:
    create("small", max_message_bytes=5)
    topic(db, max_message_bytes=50)
    other = connect()
    takes(other, 5, "small")
    for size, expected in ((10, (10, 5, 10)), (4, (4, 4, 4)), ("1k", (1024, 5, 50)), (7, (7, 5, 7))):
        limit(db, size)
        takes(other, expected[0])
        takes(other, expected[1], "small")
        takes(other, expected[2], "t")
    assert (holds(db), holds(db, "small")) == ((7, 73400320), (5, 5))
    for none in (0, -1, None, "0k"):
        limit(db, 7)
        limit(db, none)
        assert one(db, "select howdah.engine_options() -> 'max_message_bytes' = 'null'")
        one(other, SEND, ("q", "x" * 100_000))
        takes(other, 5, "small")
        takes(other, 50, "t")
    assert holds(db) == (73400320, 73400320)


def test_one_that_is_rolled_back_never_held(db: Db, connect: Connect) -> None:
    setter = connect()
    setter.execute("begin")
    limit(setter, 3)
    one(db, SEND, ("q", "four"))
    setter.execute("rollback")
    one(db, SEND, ("q", "four"))
    assert holds(db) == (73400320, 73400320)


def test_what_the_options_show_can_be_given_back(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_message_bytes": 1000}')""")
    limit(db, "1k")
    one(db, "select howdah.alter_engine(howdah.engine_options())")
    limit(db, 10)
    one(db, "select howdah.alter_queue('q', howdah.queue_options('q'))")
    one(db, "select howdah.alter_engine(howdah.engine_options())")
    assert (holds(db), one(db, "select howdah.engine_options() -> 'max_message_bytes'")) == ((10, 1000), 10)


@pytest.mark.behaviour("IMQ-44")
@pytest.mark.parametrize(
    ("size", "expected"), [("70m", 73400320), ("1K", 1024), ("7b", 7), ("7", 7), (7, 7), ("0", None), (-1, None)]
)
@pytest.mark.parametrize("name", ["max_message_bytes", "imq.message.max_size"])
def test_it_has_the_units_and_the_name_of_sun_one_mq(db: Db, name: str, size: str | int, expected: int | None) -> None:
    one(db, "select howdah.alter_engine(%s::jsonb)", (json.dumps({name: size}),))
    assert one(db, "select howdah.engine_options() -> 'max_message_bytes'") == expected


@pytest.mark.parametrize("wrong", ['"10g"', '"k"', "-2", "1.5", "true", "[]", "{}", '""', '"-1k1"', '"1 k"'])
def test_a_wrong_size_is_refused_with_a_hint_and_changes_nothing(db: Db, wrong: str) -> None:
    limit(db, 10)
    for name in ("max_message_bytes", "imq.message.max_size"):
        said = refused(
            db, "HD004", "select howdah.alter_engine(%s::jsonb)", (f'{{"max_count": 1, "{name}": {wrong}}}',)
        )
        assert "option max_message_bytes cannot be" in (said.message_primary or "")
        assert "10k" in (said.message_hint or "")
    assert holds(db) == (10, 73400320)
    assert one(db, "select howdah.engine_options() -> 'max_count' = 'null'")


def test_only_administrators_set_it_and_everybody_may_see_it(db: Db, connect: Connect) -> None:
    limit(db, 10)
    for role in ("producer", "consumer", "browser", "auditor"):
        session = connect(f"howdah_{role}")
        refused(session, "42501", """select howdah.alter_engine('{"max_message_bytes": 100}')""")
        assert one(session, "select howdah.engine_options() -> 'max_message_bytes'") == 10
    limit(connect("howdah_admin"), 11)
    takes(db, 11)


def test_a_queue_cannot_be_given_what_holds_by_the_columns_name(db: Db) -> None:
    for call in ("alter_queue('q'", "create_queue('r'", "set_policy('>'", "create_topic('t'"):
        refused(db, "HD004", f"""select howdah.{call}, '{{"own_max_message_bytes": 9}}')""")
    refused(db, "HD004", """select howdah.alter_engine('{"max_bytes": 9}')""")
