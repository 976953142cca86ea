"""A standby does not tell which transactions are open: the journal is not streamed from it, nor is it audited."""

import psycopg
import pytest
from support import one, refused

from howdah.audit import AuditError
from howdah.audit.snapshot import exported
from howdah.engine.embedded import EmbeddedServer


@pytest.mark.slow
def test_offsets_and_audits_are_refused_on_a_standby(private_server: EmbeddedServer) -> None:
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        offset = one(db, "select howdah.journal_offset()::text")
    private_server.stop()
    (private_server.folder / "data" / "standby.signal").touch()
    dsn = private_server.start().dsn
    with psycopg.connect(dsn, autocommit=True) as db:
        assert one(db, "select pg_is_in_recovery()")
        assert "standby" in (refused(db, "HD037", "select howdah.journal_offset()").message_primary or "")
        refused(db, "HD037", "select howdah.next_journal_offset(%s::jsonb)", [offset])
        refused(db, "HD037", "select howdah.check_journal_offset(%s::jsonb)", [offset])
    with pytest.raises(AuditError, match="is a standby"), exported(dsn):
        pass
