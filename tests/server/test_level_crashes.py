"""What a kill, a stop and a backup leave of each level, in every place where messages lie."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from killed import kill
from levels import (
    ASSURED,
    LEVELS,
    NONPERSISTENT,
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
from psycopg.conninfo import make_conninfo
from support import Db, column, one, wait_until

from howdah.engine.embedded import EmbeddedServer
from howdah.engine.embedded.programs import Account

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


class Load:
    """Sends messages of all levels, from a thread, until it is ended; remembers what was answered."""

    def __init__(self, dsn: str, number: int) -> None:
        self.answered: dict[str, list[str]] = {level: [] for level in LEVELS}
        self._dsn, self._number = dsn, number
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as db:
            number = 0
            while not self._ended.is_set():
                number += 1
                body = f"{self._number}-{number}"
                by_word(db, LEVELS[number % 5], body=body)
                self.answered[LEVELS[number % 5]].append(body)

    def so_far(self, level: str) -> list[str]:
        return self.answered[level][:]

    def end(self) -> None:
        self._ended.set()
        self._thread.join(60)


@pytest.fixture
def backup_folder(private_server: EmbeddedServer) -> Iterator[Path]:
    folder = private_server.folder.with_name(f"{private_server.folder.name}-backup")
    folder.mkdir(mode=0o711)
    yield folder
    EmbeddedServer(folder).stop("immediate")
    shutil.rmtree(folder)


@pytest.mark.behaviour("SIB-25")
def test_a_base_backup_under_load_has_the_assured_messages_before_it_and_no_non_persistent_one(
    private_server: EmbeddedServer, backup_folder: Path
) -> None:
    dsn = private_server.start().dsn
    with open_db(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        for level in NONPERSISTENT:
            send(db, level)
    loads = [Load(dsn, number) for number in range(2)]
    try:
        wait_until(lambda: all(len(load.so_far(ASSURED)) > 20 for load in loads))
        before = {level: {body for load in loads for body in load.so_far(level)} for level in LEVELS}
        with open_db(private_server) as db:
            flushed = one(db, "select pg_current_wal_insert_lsn()")
            wait_until(lambda: one(db, "select pg_current_wal_flush_lsn() >= %s", (flushed,)))
        account = Account.choose(private_server.folder / "data")
        shutil.chown(backup_folder, account.uid, account.gid)
        made = account.run(
            *(private_server.bin("pg_basebackup"), "-D", backup_folder / "data", "--checkpoint=fast"),
            *("-d", make_conninfo(dsn, dbname="")),
            cwd=backup_folder,
        )
        assert made.returncode == 0, made.stdout
    finally:
        for load in loads:
            load.end()
    shutil.copy(private_server.folder / "password", backup_folder / "password")
    with open_db(EmbeddedServer(backup_folder)) as db:
        got = db.execute("select body, reliability from howdah.receive('q', 10000)").fetchall()
    assert {level for _, level in got} == {RELIABLE, ASSURED}
    for level in (RELIABLE, ASSURED):
        assert before[level] - {body for body, of in got if of == level} == set()


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
