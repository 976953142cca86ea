"""Two servers and the forwarders between them are killed at random moments: each message arrives exactly once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import chance
import psycopg
import pytest
from links_support import create
from psycopg.conninfo import conninfo_to_dict
from support import column, one, wait_until

from howdah.engine.embedded import EmbeddedServer
from howdah.workers.links.audit import audit_link

SENDER = Path(__file__).parents[1] / "helpers" / "link_sender.py"
#: `make chaos` sends more.
MESSAGES = int(os.environ.get("HOWDAH_TEST_LINKED") or 15_600)


@dataclass
class World:
    """Two servers, a sender at the first, two forwarders between them."""

    a: EmbeddedServer
    b: EmbeddedServer
    folder: Path
    dice: Random
    forwarders: list[subprocess.Popen[bytes]] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)

    def start(self, *servers: EmbeddedServer) -> None:
        """Start servers, and say where the second is."""
        for server in servers:
            server.start()
        where = conninfo_to_dict(self.b.start().dsn)
        (self.folder / "services").write_text("\n".join(["[b]", *(f"{key}={value}" for key, value in where.items())]))

    def forward(self) -> None:
        """Have two forwarders run."""
        self.forwarders = [process for process in self.forwarders if process.poll() is None]
        environment = os.environ | {"HOWDAH_DSN": self.a.start().dsn, "PGSERVICEFILE": str(self.folder / "services")}
        while len(self.forwarders) < 2:
            self.forwarders.append(
                subprocess.Popen(
                    [sys.executable, "-m", "howdah", "link", "run"], env=environment, stderr=subprocess.DEVNULL
                )
            )

    def kill_something(self) -> None:
        """A forwarder, a session on either side, or a server."""
        what = self.dice.choice(["forwarder", "forwarder", "session at a", "session at b", "server a", "server b"])
        self.kills[what] += 1
        if what == "forwarder":
            victim = self.dice.choice(self.forwarders)
            victim.kill()
            victim.wait(30)
        elif what.startswith("session"):
            server = self.a if what.endswith("a") else self.b
            with psycopg.connect(server.start().dsn, autocommit=True) as db:
                db.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'howdah link to_b'"
                )
        else:
            server = self.a if what.endswith("a") else self.b
            server.stop("immediate")
            self.start(server)
        self.forward()

    def arrived(self) -> int:
        """How many messages have arrived."""
        with suppress(psycopg.Error), psycopg.connect(self.b.start().dsn, autocommit=True) as db:
            return int(one(db, "select coalesce(sum(arrived), 0) from howdah.list_arrivals()"))
        return 0

    def see_progress(self, sender: subprocess.Popen[bytes]) -> None:
        """Wait until something more has arrived, or nothing more is sent."""
        before = self.arrived()
        wait_until(lambda: self.arrived() > before or sender.poll() is not None, 100)

    def close(self) -> None:
        """End the forwarders."""
        for process in self.forwarders:
            process.kill()
            process.wait(30)


@pytest.mark.slow
@pytest.mark.behaviour("AMQ-16")
def test_kills_of_forwarders_and_servers_lose_and_double_nothing(
    private_server: EmbeddedServer,
    migrated_copy: Callable[[], EmbeddedServer],
    tmp_path: Path,
) -> None:
    """Acknowledged sends arrive once; those of unknown outcome at most once; rolled-back ones never.

    Of the non-persistent ones, a kill of either server may take some.
    """
    dice = chance.dice()
    world = World(private_server, migrated_copy(), tmp_path, dice)
    world.start(world.a, world.b)
    with psycopg.connect(world.a.start().dsn, autocommit=True) as db:
        db.execute("select howdah.create_queue('out')")
        create(db, service="b", dsn_env=None, batch_size=dice.choice([7, 50, 300]), retry_ms_max=200)
    with psycopg.connect(world.b.start().dsn, autocommit=True) as db:
        db.execute("select howdah.create_queue('in'), howdah.new_engine_id()")  # its cluster is a copy
    notes = tmp_path / "sent"
    with notes.open("w") as out:
        sender = subprocess.Popen(
            [sys.executable, SENDER, world.a.start().dsn, str(MESSAGES), "60", str(dice.randrange(2**32))], stdout=out
        )
    try:
        world.forward()
        for _ in range(40):
            world.see_progress(sender)
            time.sleep(dice.random() * 0.3)
            world.kill_something()
        sender.wait(100)
        with psycopg.connect(world.a.start().dsn, autocommit=True) as db:
            wait_until(lambda: column(db, "select 1 from howdah.browse('out', 1)") == [], 100)
    finally:
        sender.kill()
        world.close()
    assert audit_link("to_b", world.a.start().dsn, world.b.start().dsn).findings == []
    noted = notes.read_text().split()
    acknowledged = {body for body in noted if not body.startswith("?") and not body.endswith("n")}
    tried = {body.removeprefix("?") for body in noted}
    with psycopg.connect(world.b.start().dsn, autocommit=True) as db:
        tables = "(select body from howdah.msgs union all select body from howdah.msgs_nonpersistent) m"
        found = Counter(column(db, f"select convert_from(m.body, 'UTF8') from {tables}"))
    print(
        f"{len(acknowledged)} persistent ones acknowledged, {world.arrived()} of all levels arrived,"
        f" {sum(found.values())} are there, kills: {dict(world.kills)}"
    )
    assert [body for body, times in found.items() if times > 1] == []
    assert acknowledged - set(found) == set()
    assert set(found) - tried == set()
