"""howdah check: what it warns of, and its exit codes."""

import psycopg
import pytest
from command import howdah
from support import Connect, Db, column, identifier, one, refused

from howdah.engine.embedded import EmbeddedServer


@pytest.mark.behaviour("AMQ-18")
def test_the_development_profile_is_warned_of_whatever_the_way_to_it_and_production_is_silent(
    dsn: str, db: Db, private_server: EmbeddedServer
) -> None:
    """The embedded server says of itself what it is; its settings alone, which are durable, do not tell."""

    def profiles(dsn: str = dsn) -> list[tuple[str, str]]:
        return [
            (row["value"], row["danger"]) for row in howdah(dsn, "check", "--json").json if row["setting"] == "profile"
        ]

    assert profiles(private_server.start().dsn) == [("development", "slow")], "as it was started"
    name = identifier(db.info.dbname)
    db.execute(psycopg.sql.SQL("alter database {} set howdah.embedded = off").format(name))
    assert profiles() == []
    db.execute(psycopg.sql.SQL("alter database {} set howdah.embedded = on").format(name))
    assert profiles() == [("development", "slow")]
    assert "a server of its own" in " ".join(howdah(dsn, "check").out.split())
    assert howdah(dsn, "check").code == 0, "nothing that was committed is at risk"
    db.execute("set howdah.embedded = off")
    assert column(db, "select setting from howdah.check_server() where setting = 'profile'") == []


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


@pytest.mark.slow
def test_one_role_mode_is_a_choice_and_passes(empty_dsn: str) -> None:
    assert howdah(empty_dsn, "migrate", "--one-role").code == 0
    found = howdah(empty_dsn, "check", "--json")
    assert found.code == 0
    assert "roles" not in [row["setting"] for row in found.json]


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
