"""Consumers of a hardened queue that kill themselves at every step.

Each in a process of its own, which one driver forks.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

import psycopg

STEPS = ("before", "begun", "committed", "received", "handling", "rolled back", "recorded")


def consume(dsn: str, dice: random.Random) -> None:
    """One attempt, which always fails; SIGKILL at one step, if the dice say so."""
    dies_at = dice.choice([*STEPS, None])

    def step(name: str) -> None:
        if name == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    with psycopg.connect(dsn, autocommit=True) as connection, psycopg.connect(dsn, autocommit=True) as outside:
        step("before")
        connection.execute("begin")
        attempts = connection.execute("select attempt, message_id from howdah.begin_attempts('q')").fetchall()
        step("begun")
        connection.execute("commit")
        step("committed")
        for attempt, message_id in attempts:
            connection.execute("begin")
            if connection.execute("select from howdah.receive_attempt('q', %s)", (attempt,)).fetchall():
                step("received")
                outside.execute("insert into started values (%s)", (message_id,))
                step("handling")
                connection.execute("rollback")
                step("rolled back")
                connection.execute("select howdah.record_failure('q', %s, failure_key => %s)", (message_id, attempt))
                step("recorded")
            else:
                connection.execute("commit")


def main() -> None:
    """Until the queue is empty."""
    dsn, dice = sys.argv[1], random.Random(int(sys.argv[2]))
    while True:
        child = os.fork()
        if child == 0:
            try:
                consume(dsn, random.Random(dice.random()))
            except psycopg.Error:
                time.sleep(0.05)  # the server is being restarted
            os._exit(0)
        os.waitpid(child, 0)
        dice.random()
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                if not connection.execute(
                    "select from howdah.msgs m where m.destination_id ="
                    " (select id from howdah.destinations where name = 'q')"
                ).fetchall():
                    return
        except psycopg.Error:
            time.sleep(0.05)


if __name__ == "__main__":
    main()
