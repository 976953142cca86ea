"""Each level writes and waits for no more than it promises, and keeps a large backlog in order."""

from __future__ import annotations

import pytest
from levels import (
    ASSURED,
    LEVELS,
    NONPERSISTENT,
    RELIABLE,
    WORD,
    by_word,
    make_sleepy,
    open_db,
    send,
)
from support import Db, column, one

from howdah.engine.embedded import EmbeddedServer


@pytest.fixture
def sleepy(private_server: EmbeddedServer) -> EmbeddedServer:
    """A server that flushes no asynchronous commit by itself."""
    make_sleepy(private_server)
    return private_server


def wal_of(db: Db, statement: str, params: tuple[object, ...] = ()) -> float:
    """Bytes of WAL that a statement writes, its commit and all."""
    begun = one(db, "select pg_current_wal_insert_lsn()")
    db.execute(statement.encode(), params)
    return float(one(db, "select pg_current_wal_insert_lsn() - %s::pg_lsn", (begun,)))


@pytest.mark.behaviour("SIB-18")
@pytest.mark.behaviour("SIB-29")
def test_the_non_persistent_levels_write_next_to_no_wal(sleepy: EmbeddedServer) -> None:
    many = "select count(howdah.send('q', repeat('x', 500), reliability => %s)) from generate_series(1, 1000)"
    with open_db(sleepy) as db:
        one(db, "select howdah.create_queue('q')")
        written = {}
        for level in LEVELS:
            send(db, level)
            db.execute("checkpoint")
            one(db, many, (level,))  # pages that are new since the checkpoint are written as a whole
            written[level] = wal_of(db, many, (level,)) / 1000
    # Of 32 positions a number is written once, and of the numbers of best-effort messages' savepoints some.
    assert all(written[level] < 20 for level in NONPERSISTENT), written
    assert all(written[level] > 500 for level in (RELIABLE, ASSURED)), written


@pytest.mark.slow
@pytest.mark.behaviour("SIB-30")
@pytest.mark.parametrize("level", LEVELS[1:3])
def test_a_backlog_larger_than_the_servers_memory_is_kept_and_received_in_order(
    private_server: EmbeddedServer, level: str
) -> None:
    with open_db(private_server) as db:
        db.execute("alter system set shared_buffers = '4MB'")
    private_server.stop("fast")
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        for _ in range(20):
            # bodies that cannot be compressed
            bodies = "select string_agg(md5(g::text || i), '') from generate_series(1, 60) i"
            one(
                db,
                f"select cardinality(howdah.send_batch('q', array_agg(({bodies})), reliability => %s))"
                " from generate_series(1, 1000) g",
                (level,),
            )
        assert one(db, "select pg_relation_size('howdah.msgs_nonpersistent')") > 8 * (4 << 20)
        got: list[int] = []
        while messages := column(db, "select message_id from howdah.receive('q', 5000)"):
            got += messages
        assert len(got) == 20_000
        assert got == sorted(got)


@pytest.mark.behaviour("SIB-31")
def test_reliable_messages_are_faster_than_assured_ones_because_their_commit_does_not_wait(
    sleepy: EmbeddedServer,
) -> None:
    with open_db(sleepy) as db:
        # A flush then takes a tenth of a second: far more than a send's own work, on a busy machine too.
        db.execute("alter system set commit_delay = 100000")
        db.execute("alter system set commit_siblings = 0")
        one(db, "select pg_reload_conf()")
        one(db, "select howdah.create_queue('q')")
    with open_db(sleepy) as db:
        seconds = {}
        for level in (RELIABLE, ASSURED):
            begun = one(db, "select extract(epoch from clock_timestamp())")
            for _ in range(10):
                by_word(db, level)
            seconds[level] = one(db, "select extract(epoch from clock_timestamp())") - begun
    assert seconds[ASSURED] >= 1
    assert seconds[RELIABLE] < seconds[ASSURED] / 2


@pytest.mark.behaviour("SIB-32")
def test_of_a_hundred_thousand_reliable_messages_none_is_lost_without_a_crash(private_server: EmbeddedServer) -> None:
    sent: list[int] = []
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        for _ in range(100):
            with db.transaction():
                db.execute(WORD)
                batch = "select howdah.send_batch('q', array_fill('x'::text, array[1000]), reliability => %s)"
                sent += one(db, batch, (RELIABLE,))
        got: list[int] = []
        while len(got) < len(sent):
            with db.transaction():
                db.execute(WORD)
                messages = column(db, "select message_id from howdah.receive('q', 5000)")
            assert messages
            got += messages
    private_server.stop("fast")
    with open_db(private_server) as db:
        assert column(db, "select message_id from howdah.receive('q', 10)") == []
    assert got == sent
