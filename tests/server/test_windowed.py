"""A crash of the server under a producer that does not wait."""

from __future__ import annotations

import threading

import psycopg
import pytest
from support import column, one, wait_until

from howdah.engine import connect
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.errors import ConnectionLost
from howdah.engine.sending.windowed import Sent


@pytest.mark.slow
def test_what_was_confirmed_before_a_crash_is_there_once_and_the_rest_is_reported(
    private_server: EmbeddedServer,
) -> None:
    heard: list[Sent] = []
    with connect(private_server.start().dsn, timeout=2) as connection:
        connection.admin.create_queue("q")
        with connection.windowed_producer(
            "q", asynchronous=True, window_bytes=4096, on_complete=heard.append
        ) as producer:

            def send() -> None:
                for n in range(100_000):
                    producer.send(f"m{n}")
                    if any(sent.error for sent in heard[-1:]):
                        return

            sending = threading.Thread(target=send)
            sending.start()
            wait_until(lambda: len(heard) > 300)
            private_server.stop("immediate")
            sending.join(60)
            assert not sending.is_alive()
    assert [sent.body for sent in heard] == [f"m{n}" for n in range(len(heard))]
    confirmed = {sent.message_id for sent in heard if sent.error is None}
    assert any(isinstance(sent.error, ConnectionLost) for sent in heard)
    with psycopg.connect(private_server.start().dsn) as db:
        stored = column(db, "select message_id from howdah.msgs")
        assert len(stored) == len(set(stored)) == one(db, "select count(distinct body) from howdah.msgs")
        assert confirmed <= set(stored)
        assert len(stored) <= len(heard)
