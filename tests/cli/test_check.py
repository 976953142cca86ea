"""howdah check: what it warns of, and its exit codes."""

import psycopg
import pytest
from command import howdah
from support import Connect, Db, identifier, one, refused


@pytest.mark.behaviour("AMQ-18")
def test_settings_for_learning_are_named_with_advice_and_a_sound_server_passes(dsn: str, db: Db) -> None:
    name = identifier(db.info.dbname)
    assert howdah(dsn, "check").code == 0
    assert [row["setting"] for row in howdah(dsn, "check", "--json").json if row["danger"] == "loss"] == []
    db.execute(psycopg.sql.SQL("alter database {} set synchronous_commit = off").format(name))
    found = howdah(dsn, "check", "--json")
    assert found.code == 1
    (row,) = [row for row in found.json if row["danger"] == "loss"]
    assert (row["setting"], row["value"]) == ("synchronous_commit", "off")
    assert "last commits before a crash are lost" in row["advice"]
    assert "synchronous_commit" in howdah(dsn, "check").out
    db.execute(psycopg.sql.SQL("alter database {} reset synchronous_commit").format(name))
    assert howdah(dsn, "check").code == 0


def test_memory_mode_and_missing_journals_are_named(dsn: str, db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"persistent": false}')""")
    one(db, """select howdah.create_topic('t', '{"journal_level": "off"}')""")
    found = howdah(dsn, "check", "--json")
    assert found.code == 1
    assert {(row["setting"], row["value"]) for row in found.json if row["danger"] == "loss"} == {
        ("destination q", "persistent: false"),
        ("destination t", "journal_level: off"),
    }


def test_only_administrators_and_auditors_check(connect: Connect) -> None:
    refused(connect("howdah_producer"), "42501", "select howdah.check_server()")
    assert connect("howdah_auditor").execute("select * from howdah.check_server()").fetchall() is not None
