"""Client processes and the server are killed at random moments: afterwards each committed message is consumed once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import chance
import psycopg
from support import Db, column, one, wait_until

from howdah.engine.embedded import EmbeddedServer

CLIENTS = 3
#: Rounds, each of which ends with SIGKILL for every client or with a crash of the server. `make chaos` runs 100.
ROUNDS = int(os.environ.get("HOWDAH_TEST_CRASHES") or 4)
PROGRAM = Path(__file__).parents[1] / "helpers" / "client_process.py"


def kill_clients(clients: list[subprocess.Popen[bytes]]) -> None:
    for client in clients:
        client.kill()
    for client in clients:
        client.wait(30)


def drain(db: Db) -> float:
    """Receive until nothing that was sent is missing; seconds until the last message was found."""
    begun = latest = time.monotonic()
    missing = (
        "select count(*) from (select id from noted where what = 'sent' except select id from noted"
        " where what = 'received') m"
    )

    def found_all() -> bool:
        nonlocal latest
        while db.execute("insert into noted select 'received', message_id from howdah.receive('q', 1000)").rowcount:
            latest = time.monotonic()
        return bool(one(db, missing) == 0)

    wait_until(found_all)
    return latest - begun


def test_killed_clients_and_server_crashes_lose_and_double_nothing(private_server: EmbeddedServer) -> None:
    dice = chance.dice()
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("create table noted (what text not null, id bigint not null)")
        one(db, "select howdah.create_queue('q')")
    crashes, latest = 0, 0.0
    for _ in range(ROUNDS):
        clients = [
            subprocess.Popen([sys.executable, PROGRAM, dsn, str(dice.randrange(2**32))], stderr=subprocess.DEVNULL)
            for _ in range(CLIENTS)
        ]
        with psycopg.connect(dsn, autocommit=True) as db:
            before = one(db, "select count(*) from noted")
            wait_until(lambda before=before, db=db: one(db, "select count(*) from noted") > before + 20)  # type: ignore[misc]
        time.sleep(dice.random() * 0.3)
        if dice.random() < 0.5:
            private_server.stop("immediate")
            crashes += 1
        kill_clients(clients)
        dsn = private_server.start().dsn
        with psycopg.connect(dsn, autocommit=True) as db:
            latest = max(latest, drain(db))
    with psycopg.connect(dsn, autocommit=True) as db:
        doubled = column(db, "select id from noted group by what, id having count(*) > 1")
        assert doubled == []
        assert one(db, "select count(*) from howdah.msgs where destination_id <> 1") == 0
        sent = one(db, "select count(*) from noted where what = 'sent'")
    print(
        f"{ROUNDS} rounds, {crashes} crashes of the server, {sent} messages; 0 lost, 0 doubled;"
        f" latest found after {latest:.3f} s"
    )
