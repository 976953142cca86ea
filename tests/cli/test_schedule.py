"""howdah schedule and howdah transactions: every command, its --json, and what it refuses."""

from __future__ import annotations

import psycopg
import pytest
from command import howdah, refused
from psycopg import sql
from support import Db, column, one


def test_a_schedule_whose_times_python_has_not_is_listed(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'a'::text, period => '1 h')")
    one(db, "select howdah.schedule('q', 'b'::text, period => '1 h')")
    db.execute("update howdah.schedules set starts_at = '4713-01-01 BC', ends_at = 'infinity' where body = 'a'")
    assert howdah(dsn, "schedule", "list").code == 0
    first, second = howdah(dsn, "schedule", "list", "--json").json
    assert sorted([first["starts_at"] or "", second["starts_at"] or ""])[1].endswith(" BC")
    assert sorted([first["ends_at"] or "", second["ends_at"] or ""])[1] == "infinity"


def test_add_list_pause_resume_and_cancel_a_schedule(dsn: str, db: Db) -> None:
    howdah(dsn, "queue", "create", "q")
    assert howdah(dsn, "schedule", "list").out == "no schedules\n"
    added = howdah(
        dsn,
        "schedule",
        "add",
        "q",
        "hello",
        "--cron",
        "30 8 * * mon-fri",
        "--time-zone",
        "Europe/Vienna",
        "--name",
        "m",
    )
    number = added.out.split()[1]
    assert added.out == f"schedule {number} added\n"
    often = howdah(dsn, "schedule", "add", "q", "x", "--every", "90", "--repeat", "3", "--json").json["schedule_id"]
    shown = howdah(dsn, "schedule", "list", "q", "--wide").out
    assert "30 8 * * mon-fri Europe/Vienna" in shown
    assert "every 0:01:30" in shown
    assert [row["schedule_id"] for row in howdah(dsn, "schedule", "list", "--json").json] == [often, int(number)]
    assert howdah(dsn, "schedule", "pause", number).out == f"schedule {number} paused\n"
    assert howdah(dsn, "schedule", "pause", number).out == f"schedule {number} was not active\n"
    assert howdah(dsn, "schedule", "resume", number).out == f"schedule {number} resumed\n"
    assert howdah(dsn, "schedule", "resume", number, "--json").json["changed"] is False
    fired = howdah(dsn, "schedule", "fire", number, "--reason", "to see it")
    (message,) = howdah(dsn, "receive", "q", "--json").json_lines
    assert fired.out == f"schedule {number} fired: message {message['message_id']}\n"
    assert howdah(dsn, "schedule", "cancel", number).out == f"schedule {number} cancelled\n"
    refused(howdah(dsn, "schedule", "cancel", number), f"no schedule {number}")
    refused(howdah(dsn, "schedule", "add", "q", "x", "--cron", "61 * * * *"), "minute '61'")
    refused(howdah(dsn, "schedule", "add", "q", "x", "--starts", "soon", "--every", "1"), "not a time", code=2)
    assert len(howdah(dsn, "schedule", "list", "--all", "--json").json) == 2


def test_json_body_schedules_json_and_a_text_that_looks_like_it_is_named(dsn: str) -> None:
    howdah(dsn, "queue", "create", "q")
    add = (dsn, "schedule", "add", "q", '{"id": 1}', "--every", "1h", "--json")
    parsed, text = howdah(*add, "--json-body"), howdah(*add)
    assert ("looks like JSON" in parsed.err, "looks like JSON" in text.err) == (False, True)
    for added in (parsed, text):
        howdah(dsn, "schedule", "fire", str(added.json["schedule_id"]))
    rows = howdah(dsn, "receive", "q", "-n", "2", "--json").json_lines
    assert [(row["content_type"], row["body"]) for row in rows] == [
        ("application/json", {"id": 1}),
        ("text/plain", '{"id": 1}'),
    ]
    refused(howdah(dsn, "schedule", "add", "q", "{broken", "--every", "1h", "--json-body"), "not the JSON")


def test_a_schedule_sends_with_a_level(dsn: str, db: Db) -> None:
    howdah(dsn, "queue", "create", "q")
    howdah(dsn, "schedule", "add", "q", "x", "--delay", "0.000001", "--reliability", "EXPRESS_NONPERSISTENT")
    assert column(db, "select reliability from howdah.receive('q')") == ["EXPRESS_NONPERSISTENT"]
    refused(howdah(dsn, "schedule", "add", "q", "x", "--every", "1", "--reliability", "express"), "level")


def test_a_prepared_transaction_is_shown_and_ended(dsn: str, db: Db) -> None:
    if one(db, "show max_prepared_transactions") == "0":
        pytest.skip("max_prepared_transactions is 0 on this server")
    one(db, "select howdah.create_queue('q')")
    assert howdah(dsn, "transactions", "list").out == "no prepared transactions\n"
    for ending in ("commit", "rollback"):
        gid = f"howdah:{db.info.dbname}"
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute("begin")
            one(other, "select howdah.send('q', 'x', notify => false)")
            other.execute(sql.SQL("prepare transaction {}").format(gid))
        assert [row["gid"] for row in howdah(dsn, "transactions", "list", "--json").json] == [gid]
        refused(howdah(dsn, "transactions", ending, gid), "confirmation")
        assert howdah(dsn, "transactions", ending, gid, "--yes").code == 0
        refused(howdah(dsn, "transactions", ending, gid, "--yes"), "no prepared transaction")
        assert one(db, "select live from howdah.queue_stats('q')") == 1
