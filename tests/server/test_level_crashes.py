"""What a kill and a clean stop leave of each level, in every place where messages lie."""

from __future__ import annotations

import os

import pytest
from killed import kill
from levels import (
    ASSURED,
    LEVELS,
    PLACES,
    RELIABLE,
    WORD,
    by_word,
    furnish,
    make_sleepy,
    open_db,
    present,
    put_everywhere,
    send,
)
from support import column, one

from howdah.engine.embedded import EmbeddedServer

#: Kills of a server, each after an acknowledged send. `make chaos` makes 2,000.
KILLS = int(os.environ.get("HOWDAH_TEST_KILLS") or 0)


@pytest.fixture
def sleepy(private_server: EmbeddedServer) -> EmbeddedServer:
    """A server that flushes no asynchronous commit by itself."""
    make_sleepy(private_server)
    return private_server


@pytest.mark.behaviour("SIB-05")
@pytest.mark.behaviour("SIB-33")
@pytest.mark.parametrize("rounds", [KILLS or 5, pytest.param(KILLS or 200, marks=pytest.mark.slow)])
def test_no_assured_message_is_missing_after_a_kill_right_after_it_was_answered(
    private_server: EmbeddedServer, rounds: int
) -> None:
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
    sent: list[int] = []
    for number in range(rounds):
        with open_db(private_server) as db:
            assert column(db, "select message_id from howdah.browse('q', 10000)") == sent
            sent.append((by_word if number % 2 else send)(db, ASSURED))
            kill(private_server)
    with open_db(private_server) as db:
        assert column(db, "select message_id from howdah.receive('q', 10000)") == sent


@pytest.mark.behaviour("SIB-04")
@pytest.mark.behaviour("SIB-24")
def test_a_kill_leaves_all_assured_messages_the_flushed_reliable_ones_and_no_others(sleepy: EmbeddedServer) -> None:
    with open_db(sleepy) as db:
        furnish(db)
        sent = {level: put_everywhere(db, level) for level in LEVELS}
        late = [by_word(db, RELIABLE) for _ in range(10)]
    kill(sleepy)
    with open_db(sleepy) as db:
        left = present(db) - {("ready", number) for number in late}
        assert left == {(place, sent[level][place]) for place in PLACES for level in (RELIABLE, ASSURED)}
        ready = column(db, "select message_id from howdah.receive('q', 100)")
    lost = len(late) + 2 - len(ready)
    assert lost > 0, "the WAL writer slept, so that what was not flushed was lost"
    assert ready[2:] == late[: 10 - lost]


@pytest.mark.behaviour("SIB-21")
@pytest.mark.behaviour("SIB-04")
def test_a_clean_stop_leaves_exactly_the_persistent_levels_in_every_place(sleepy: EmbeddedServer) -> None:
    with open_db(sleepy) as db:
        furnish(db)
        sent = {level: put_everywhere(db, level) for level in LEVELS}
        late = [by_word(db, level) for level in LEVELS for _ in range(3)]
    sleepy.stop("fast")
    with open_db(sleepy) as db:
        expected = {(place, sent[level][place]) for place in PLACES for level in (RELIABLE, ASSURED)}
        assert present(db) == expected | {("ready", number) for number in late[9:]}
        assert one(db, "select count(*) from howdah.audit_messages where nonpersistent") == 0


@pytest.mark.slow
@pytest.mark.behaviour("SIB-20")
def test_after_a_kill_an_assured_or_best_effort_message_never_comes_twice_and_a_reliable_one_may(
    sleepy: EmbeddedServer,
) -> None:
    with open_db(sleepy) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.create_queue('kept')")
    again = dict.fromkeys(LEVELS, 0)
    for level in LEVELS:
        with open_db(sleepy) as db:
            sent = send(db, level)
            send(db, ASSURED, "kept")
            with db.transaction():
                db.execute(WORD)
                assert column(db, "select message_id from howdah.receive('q')") == [sent]
            kill(sleepy)
        with open_db(sleepy) as db:
            again[level] = len(column(db, "select message_id from howdah.receive('q')"))
    assert again == {level: int(level == RELIABLE) for level in LEVELS}


@pytest.mark.slow
@pytest.mark.behaviour("SIB-20")
@pytest.mark.parametrize("word", [WORD, "select 1"])
def test_an_assured_message_is_never_received_twice_whatever_is_killed_and_when(
    sleepy: EmbeddedServer, word: str
) -> None:
    with open_db(sleepy) as db:
        one(db, "select howdah.create_queue('q')")
        sent = [send(db, ASSURED) for _ in range(4)]
    for number in sent:
        with open_db(sleepy) as db:
            with db.transaction():
                db.execute(word.encode())
                assert column(db, "select message_id from howdah.receive('q')") == [number]
            kill(sleepy)
    with open_db(sleepy) as db:
        assert column(db, "select message_id from howdah.receive('q')") == []


def test_a_business_write_goes_with_the_reliable_message_beside_it(sleepy: EmbeddedServer) -> None:
    with open_db(sleepy) as db:
        one(db, "select howdah.create_queue('q')")
        db.execute("create table business (id bigint)")
    lost = False
    for _ in range(5):  # the WAL writer wakes every ten seconds, perhaps just now
        sent = []
        with open_db(sleepy) as db:
            db.execute("truncate business")
            for level in (RELIABLE, ASSURED, RELIABLE):
                with db.transaction():
                    db.execute(WORD)
                    sent.append(send(db, level))
                    db.execute("insert into business values (%s)", (sent[-1],))
        kill(sleepy)
        with open_db(sleepy) as db:
            written = column(db, "select id from business order by id")
            assert written == column(db, "select message_id from howdah.receive('q', 9) order by 1")
            assert written[:2] == sent[:2]
        lost = len(written) == 2
        if lost:
            break
    assert lost
