"""An engine that is not persistent, over a restart of its server: what is lost, and what is not."""

from __future__ import annotations

import psycopg
import pytest
from command import howdah
from support import Db, column, one

from howdah.engine.embedded import EmbeddedServer


def opened(server: EmbeddedServer) -> Db:
    return psycopg.connect(server.start().dsn, autocommit=True)


@pytest.mark.slow
def test_a_restart_takes_every_message_that_was_sent_meanwhile_and_nothing_else(private_server: EmbeddedServer) -> None:
    with opened(private_server) as db:
        one(db, "select howdah.create_queue('q')")
        one(db, "select howdah.create_topic('t')")
        one(db, "select howdah.subscribe('t', 's')")
        for name in ("q", "t"):
            one(db, "select howdah.send(%s, 'before'::text)", (name,))
        dsn = private_server.start().dsn
        assert howdah(dsn, "migrate", "--non-persistent").code == 0
        assert howdah(dsn, "engine", "show", "--json").json["persistent"] is False
        for name in ("q", "t"):
            one(db, "select howdah.send(%s, 'during'::text, delivery_mode => 'persistent')", (name,))
        one(db, "select howdah.send('q', 'later'::text, delay => interval '1 hour')")
    private_server.stop()
    with opened(private_server) as db:
        for name in ("q", "t::s"):
            assert column(db, "select body from howdah.receive(%s, 9)", (name,)) == ["before"]
        assert one(db, "select live + parked from howdah.queue_stats('q')") == 0
        dsn = private_server.start().dsn
        assert howdah(dsn, "migrate").code == 0
        assert howdah(dsn, "engine", "show", "--json").json["persistent"] is False, "a later migration leaves it so"
        assert howdah(dsn, "migrate", "--persistent").code == 0
        one(db, "select howdah.send('q', 'after'::text)")
    private_server.stop()
    with opened(private_server) as db:
        assert column(db, "select body from howdah.receive('q', 9)") == ["after"]
