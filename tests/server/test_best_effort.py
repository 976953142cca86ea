"""Best-effort messages and a planned restart of the server."""

from __future__ import annotations

import psycopg
import pytest
from support import column, one, receive

from howdah.engine.embedded import EmbeddedServer
from howdah.schema.destinations import LEVELS


@pytest.mark.slow
@pytest.mark.behaviour("SIB-01")
def test_a_restart_discards_stored_best_effort_messages_on_record(private_server: EmbeddedServer) -> None:
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        one(db, "select howdah.create_queue('q')")
        for delay in (None, "1 hour"):
            one(db, "select howdah.send('q', 'x', delay => %s, reliability => %s)", (delay, LEVELS[0]))
        kept = one(db, "select howdah.send('q', 'kept')")
    private_server.stop("fast")
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        assert [m.message_id for m in receive(db, "q", 9)] == [kept]
        assert receive(db, "q", 9) == []
        assert one(db, "select sum(cardinality(message_ids)) from howdah.audit_journal_calls where event = 'lost'") == 2
        assert column(db, "select message_id from howdah.audit_messages") == []
