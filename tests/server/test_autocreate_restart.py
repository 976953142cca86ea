"""Queues that created themselves, and restarts of the server."""

from __future__ import annotations

import psycopg
import pytest
from support import Db, column, one

from howdah.engine.embedded import EmbeddedServer

NAMES = "select queue from howdah.list_queues() where auto_created order by 1"


def use(db: Db) -> None:
    """Let four queues and a topic create themselves, of which one queue holds a persistent message."""
    one(db, 'select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    one(db, "select howdah.create_queue('administrators')")
    one(db, "select howdah.send('kept', 'x')")
    one(db, "select howdah.send('volatile', 'y', delivery_mode => 'non-persistent')")
    assert column(db, "select howdah.receive('empty')") == []
    one(db, "select howdah.send('read', 'z')")
    assert len(column(db, "select howdah.receive('read')")) == 1
    one(db, "select howdah.open_consumer('consumed', own_session => true)")
    one(db, "select howdah.subscribe('t', 's')")
    assert column(db, NAMES) == ["consumed", "empty", "kept", "read", "volatile"]


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-98")
@pytest.mark.parametrize("mode", ["immediate", pytest.param("fast", marks=pytest.mark.slow)])
@pytest.mark.parametrize("first", ["receive", "maintenance"])
def test_after_a_restart_only_those_with_persistent_messages_are_left(
    private_server: EmbeddedServer, mode: str, first: str
) -> None:
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        use(db)
        private_server.stop("immediate" if mode == "immediate" else "fast")
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        if first == "receive":
            assert column(db, "select howdah.receive('volatile')") == []
        else:
            one(db, "select howdah.maintain_autocreated()")
        assert column(db, NAMES) == ["kept"]
        assert column(db, "select topic from howdah.list_topics()") == ["t"], "it has a durable subscription"
        assert column(db, "select body from howdah.receive('kept')") == ["x"]
        assert one(db, "select count(*) from howdah.list_queues() where queue = 'administrators'") == 1
        sent = one(db, "select howdah.send('volatile', 'again')")
        assert column(db, "select message_id from howdah.receive('volatile', 9)") == [sent]


@pytest.mark.slow
def test_a_use_after_the_restart_and_before_the_sweep_keeps_its_queue(private_server: EmbeddedServer) -> None:
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        use(db)
        private_server.stop("immediate")
    dsn = private_server.start().dsn
    with psycopg.connect(dsn) as sender, psycopg.connect(dsn, autocommit=True) as db:
        sent = one(sender, "select howdah.send('empty', 'x')")
        one(db, "select howdah.maintain_autocreated()")
        assert column(db, NAMES) == ["empty", "kept"]
        sender.commit()
        assert column(db, "select message_id from howdah.receive('empty', 9)") == [sent]
