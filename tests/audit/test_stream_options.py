"""A stream takes only the options it knows, shows no password, and is for auditors."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from support import Connect, Db, one

from howdah.audit import AuditError
from howdah.audit.stream import HowdahJournal

from .stream_readers import Stream, open_streams
from .traffic import send


@pytest.fixture
def queue(db: Db) -> str:
    db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    return "q"


@pytest.fixture
def stream(dsn: str) -> Iterator[Stream]:
    """Opens a reader of the test's database, with options."""
    yield from open_streams(dsn)


def test_the_auditor_reads_and_others_do_not(dsn: str, db: Db, queue: str, connect: Connect) -> None:
    send(db, queue, 1)
    auditor = connect("howdah_auditor")
    offset = one(auditor, "select howdah.next_journal_offset(howdah.journal_offset('earliest'))")
    assert offset["snapshot"] != "1:1:"
    assert one(auditor, "select count(*) from howdah.audit_journal_calls") == 1
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect("howdah_producer").execute("select howdah.journal_offset()")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"maxRows": "5"}, "unknown option 'maxRows'"),
        ({"partitions": "0"}, "partitions must be a number"),
        ({"maxRowsPerBatch": "many"}, "maxRowsPerBatch must be a number"),
        ({"folded": "perhaps"}, "folded must be true or false"),
    ],
)
def test_wrong_options_are_named(given: dict[str, str], said: str) -> None:
    with pytest.raises(AuditError, match=said):
        HowdahJournal({"dsn": "host=localhost", **given})


def test_a_password_does_not_go_into_the_dsn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOWDAH_DSN", raising=False)
    with pytest.raises(AuditError, match="name the database"):
        HowdahJournal({})
    with pytest.raises(AuditError, match="would show in Spark's plans"):
        HowdahJournal({"dsn": "postgresql://me:secret@localhost/db"})
    monkeypatch.setenv("HOWDAH_DSN", "postgresql://me:secret@localhost/db")
    assert "secret" not in repr(HowdahJournal({})._options)
    assert conninfo_to_dict(HowdahJournal({})._options.dsn)["password"] == "secret"


def test_a_place_that_is_none_is_refused(stream: Stream) -> None:
    with pytest.raises(Exception, match="is no place in the journal"):
        stream(startingOffsets="yesterday")
