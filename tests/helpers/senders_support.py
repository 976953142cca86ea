"""What tests of senders import: a message of each level, and the end of a client's session."""

from __future__ import annotations

import os
import socket

from support import Db, one, wait_until

from howdah.schema.destinations import LEVELS

SEND = "select howdah.send(%s, %s, reliability => %s)"

LEFT = "select reliability from howdah.audit_messages order by reliability"

BEYOND = sorted(LEVELS[2:])


def send_all(db: Db, queue: str = "q") -> None:
    for level in LEVELS:
        one(db, SEND, (queue, level, level))


def end(db: Db, client: Db, *, cut: bool = False) -> None:
    """Kill the session of a client, or cut its connection without a word. Wait until it is no more."""
    pid = client.info.backend_pid
    if cut:
        with socket.socket(fileno=os.dup(client.fileno())) as connection:
            connection.shutdown(socket.SHUT_RDWR)
    else:
        one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)
