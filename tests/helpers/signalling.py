"""Two consumers of hardened queues whose handlers tell of their start and end when they are told to.

A worker's, and plain SQL.

The file that HOWDAH_TEST_STARTS names gets a line for each start, "queue delivery_count"; the handler goes on once the
file with that line added to its name exists.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psycopg

from howdah.workers import App, Message, Transaction

app = App("signalling")


def handle(queue: str, delivery_count: int) -> None:
    """Tell of the start, and wait for the word to end."""
    starts = os.environ["HOWDAH_TEST_STARTS"]
    with Path(starts).open("a", encoding="utf-8") as file:
        file.write(f"{queue} {delivery_count}\n")
    while not Path(f"{starts} {queue} {delivery_count}").exists():
        time.sleep(0.01)


@app.handler("worked")
def worked(message: Message, transaction: Transaction) -> None:
    """The worker's."""
    handle("worked", message.delivery_count)


def main() -> None:
    """Plain SQL, until it is killed; the server may be away."""
    while True:
        try:
            with psycopg.connect(sys.argv[1], autocommit=True) as connection:
                attempts = connection.execute("select attempt from howdah.begin_attempts('plain')").fetchall()
                with connection.transaction():
                    for attempt in attempts:
                        query = "select delivery_count from howdah.receive_attempt('plain', %s)"
                        for (delivery_count,) in connection.execute(query, attempt).fetchall():
                            handle("plain", delivery_count)
        except psycopg.Error:
            pass
        time.sleep(0.02)


if __name__ == "__main__":
    main()
