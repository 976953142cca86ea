"""The largest message holds for destinations that are made, altered or used again while it is being set."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from message_size_support import limit, takes, temporary, topic
from policy_support import Create
from support import Connect, Db, column, one, wait_until_blocked


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create()


MEANWHILE: dict[str, Callable[[Db], Any]] = {
    "create_queue": lambda db: one(db, "select howdah.create_queue('new')"),
    "create_topic": lambda db: topic(db, "new"),
    "alter_queue": lambda db: one(db, """select howdah.alter_queue('old', '{"max_message_bytes": 1000}')"""),
    "alter_topic": lambda db: one(db, """select howdah.alter_topic('old_t', '{"max_message_bytes": 1000}')"""),
    "set_policy": lambda db: one(db, """select howdah.set_policy('old', '{"max_message_bytes": 1000}')"""),
    "a temporary queue": temporary,
}


@pytest.fixture
def meanwhile(db: Db, create: Create) -> None:
    create("old", max_message_bytes=20)
    topic(db, "old_t", max_message_bytes=20)


def names(db: Db) -> list[str]:
    return column(db, "select name from howdah.destinations where not is_system and dropped_at is null")


@pytest.mark.parametrize("act", MEANWHILE)
def test_one_set_while_a_destination_is_being_made_or_altered_holds_for_that_one_too(
    db: Db, connect: Connect, meanwhile: None, act: str
) -> None:
    maker, setter = connect(), connect()
    maker.execute("begin")
    MEANWHILE[act](maker)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(limit, setter, 10)
        wait_until_blocked(db, setter)
        maker.execute("commit")
        done.result(10)
    for name in names(db):
        takes(db, 10, name)


@pytest.mark.parametrize("act", MEANWHILE)
def test_a_destination_made_or_altered_while_one_is_being_set_waits_and_is_held_to_it(
    db: Db, connect: Connect, meanwhile: None, act: str
) -> None:
    maker, setter = connect(), connect()
    setter.execute("begin")
    limit(setter, 10)
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(MEANWHILE[act], maker)
        wait_until_blocked(db, maker)
        setter.execute("commit")
        done.result(10)
    for name in names(db):
        takes(db, 10, name)


@pytest.mark.parametrize("first", ["the limit", "the queue"])
def test_a_temporary_queue_used_again_while_one_is_being_set_is_held_to_it(
    db: Db, connect: Connect, first: str
) -> None:
    client, setter = connect(), connect()
    one(client, "select howdah.drop_temporary_queue(%s)", (temporary(client),))
    earlier, later = (setter, client) if first == "the limit" else (client, setter)
    acts: dict[Db, Callable[[], Any]] = {setter: lambda: limit(setter, 10), client: lambda: temporary(client)}
    earlier.execute("begin")
    acts[earlier]()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(acts[later])
        wait_until_blocked(db, later)
        earlier.execute("commit")
        done.result(10)
    (name,) = column(db, "select name from howdah.destinations where name ^@ '_TEMP.' and dropped_at is null")
    takes(db, 10, name)


@pytest.mark.slow
def test_queues_altered_and_made_at_once_with_the_engine_end_without_deadlock_and_under_its_last_word(
    db: Db, connect: Connect
) -> None:
    def act(number: int) -> None:
        session = sessions[number]
        for turn in range(15):
            if number < 2:
                limit(session, 10 + turn + number)
            elif number < 4:
                one(
                    session,
                    """select howdah.alter_queue('q', '{"max_message_bytes": %s}')""" % (5 + turn * 10 + number),
                )
            else:
                one(session, "select howdah.create_queue(%s)", (f"q{number}_{turn}",))

    sessions = [connect() for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(act, range(6)))
    size = one(db, "select howdah.engine_options() -> 'max_message_bytes'")
    assert size in (24, 25)
    assert len(names(db)) == 31
    for name in names(db):
        takes(db, size, name)
