"""A base backup under load has every assured message that was there before, and no non-persistent one."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from levels import (
    ASSURED,
    LEVELS,
    NONPERSISTENT,
    RELIABLE,
    by_word,
    open_db,
    send,
)
from psycopg.conninfo import make_conninfo
from support import one, wait_until

from howdah.engine.embedded import EmbeddedServer
from howdah.engine.embedded.programs import Account


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
