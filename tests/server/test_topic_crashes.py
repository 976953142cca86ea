"""Clients and the server are killed while a topic is published to, read and turned.

Persistent messages come once, others at most once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import chance
import psycopg
from support import Db, column, one, wait_until
from topic_client_process import SUBSCRIPTIONS

from howdah.engine.embedded import EmbeddedServer

CLIENTS = 4
#: Rounds, each of which ends with SIGKILL for every client or with a crash of the server. `make chaos` runs 100.
ROUNDS = int(os.environ.get("HOWDAH_TEST_CRASHES") or 3)
PROGRAM = Path(__file__).parents[1] / "helpers" / "topic_client_process.py"
MISSING = (
    "select id from noted where what = 'sent' and mode = 'persistent' and (%(name)s <> 't::red' or colour = 'red')"
    " except select id from noted where what = %(name)s"
)
STRANGE = (
    "select id from noted where what = %(name)s"
    " except select id from noted where what = 'sent' and (%(name)s <> 't::red' or colour = 'red')"
)


def drain(db: Db, name: str) -> None:
    """Receive until there is no more, though a client that was killed may be still ending."""

    def is_empty() -> bool:
        try:
            query = "insert into noted select %s, message_id, delivery_mode, null from howdah.receive(%s, 1000)"
            return db.execute(query, (name, name)).rowcount == 0
        except psycopg.Error as error:
            if error.sqlstate not in ("HD024", "40001"):
                raise
            return False

    wait_until(is_empty)
    assert column(db, MISSING, {"name": name}) == [], f"{name} lost"


def test_killed_clients_and_server_crashes_lose_and_double_nothing_of_a_topic(private_server: EmbeddedServer) -> None:
    dice = chance.dice()
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("create table noted (what text not null, id bigint not null, mode text, colour text)")
        one(db, "select howdah.create_topic('t')")
        one(db, "select howdah.subscribe('t', 'one')")
        one(db, "select howdah.subscribe('t', 'shared', shared => true)")
        one(db, "select howdah.subscribe('t', 'red', selector => 'colour = ''red''')")
    crashes = 0
    for _ in range(ROUNDS):
        clients = [
            subprocess.Popen([sys.executable, PROGRAM, dsn, str(dice.randrange(2**32))], stderr=subprocess.DEVNULL)
            for _ in range(CLIENTS)
        ]
        with psycopg.connect(dsn, autocommit=True) as db:
            before = one(db, "select count(*) from noted")
            wait_until(lambda before=before, db=db: one(db, "select count(*) from noted") > before + 200)  # type: ignore[misc]
        time.sleep(dice.random() * 0.3)
        if dice.random() < 0.6:
            private_server.stop("immediate")
            crashes += 1
        for client in clients:
            client.kill()
        for client in clients:
            client.wait(30)
        dsn = private_server.start().dsn
        with psycopg.connect(dsn, autocommit=True) as db:
            for name in SUBSCRIPTIONS:
                drain(db, name)
    with psycopg.connect(dsn, autocommit=True) as db:
        assert column(db, "select id from noted group by what, id having count(*) > 1") == []
        for name in SUBSCRIPTIONS:
            assert column(db, STRANGE, {"name": name}) == []

        def emptied() -> bool:
            one(db, "select howdah.maintain_topics()")
            return column(db, "select state from howdah.topic_ring order by 1") == ["empty", "empty", "open"]

        wait_until(emptied)  # a killed client's server process holds its locks until it notices
        assert one(
            db, "select max(generation) filter (where state = 'open') = howdah._generation() from howdah.topic_ring"
        )
        sent, turns = one(db, "select count(*) from noted where what = 'sent'"), one(db, "select howdah._generation()")
    print(f"{ROUNDS} rounds, {crashes} crashes of the server, {turns} turns, {sent} messages; 0 lost, 0 doubled")
