"""howdah poison: dead messages from the failure to the replay."""

import pytest
from command import howdah, refused
from support import Db, one


@pytest.fixture
def dead(dsn: str, db: Db) -> list[int]:
    """Two messages of queue a and one of queue b, dead after two failures each."""
    ids = []
    for queue, body in (("a", "first"), ("a", "second"), ("b", "third")):
        if body != "second":
            howdah(dsn, "queue", "create", queue, "-o", "max_failed_deliveries=2")
        message = howdah(dsn, "send", queue, body, "-H", "k=v", "--json").json["message_id"]
        for attempt in (1, 2):
            db.execute(
                "select howdah.record_failure(%s, %s, error_text => %s, error_class => 'ValueError',"
                " traceback => %s, sqlstate => 'P0001', duration_ms => 7)",
                (queue, message, f"bad {body} {attempt}", f"Traceback of {body}\n  line {attempt}"),
            )
        ids.append(message)
    return ids


def test_list(dsn: str, dead: list[int]) -> None:
    rows = howdah(dsn, "poison", "list", "--json").json

    assert [row["message_id"] for row in rows] == dead
    assert [row["origin_queue"] for row in rows] == ["a", "a", "b"]
    assert [row["failures"] for row in rows] == [2, 2, 2]
    assert rows[0]["last_error"] == "ValueError: bad first 2"
    assert rows[0]["dead_reason"]
    assert "ValueError: bad third 2" in howdah(dsn, "poison", "list").out
    assert len(howdah(dsn, "poison", "list", "-n", 1, "--json").json) == 1
    assert len(howdah(dsn, "poison", "list", "--origin", "b", "--json").json) == 1
    assert howdah(dsn, "poison", "list", "a").out == "no dead messages in a\n"


def test_show(dsn: str, dead: list[int]) -> None:
    text = howdah(dsn, "poison", "show", dead[1]).out
    found = howdah(dsn, "poison", "show", dead[1], "--json").json

    assert text.index("bad second 1") < text.index("Traceback of second\n  line 1") < text.index("bad second 2")
    assert '{"k": "v"}' in text
    assert found["message"]["body"] == "second"
    assert found["message"]["origin_queue"] == "a"
    assert [incident["attempt"] for incident in found["incidents"]] == [1, 2]
    assert found["incidents"][0]["traceback"] == "Traceback of second\n  line 1"


def test_show_a_message_that_lives_or_is_gone(dsn: str, dead: list[int], db: Db) -> None:
    howdah(dsn, "poison", "discard", "--id", dead[0])
    gone = howdah(dsn, "poison", "show", dead[0])
    assert "is gone, or in somebody's hands" in gone.out
    assert "bad first 1" in gone.out
    assert howdah(dsn, "poison", "show", dead[0], "--json").json["message"] is None

    living = howdah(dsn, "send", "a", "x", "-p", 9, "--json").json["message_id"]
    db.execute("select howdah.record_failure('a', %s, error_text => 'once')", (living,))
    assert howdah(dsn, "poison", "show", living, "--json").json["message"]["queue"] == "a"

    refused(howdah(dsn, "poison", "show", 999999), "nothing is known of message 999999")
    refused(howdah(dsn, "poison", "show", 10**30), "out of range")
    assert howdah(dsn, "poison", "show", "x").code == 2


def test_replay_one_some_all(dsn: str, dead: list[int], db: Db) -> None:
    assert howdah(dsn, "poison", "replay", "--id", dead[0]).out == "1 messages replayed\n"
    assert [m["body"] for m in howdah(dsn, "receive", "a", "-n", 9, "--json").json_lines] == ["first"]
    assert howdah(dsn, "poison", "replay", "--all", "--origin", "b", "--json").json["replayed"] == 1
    assert one(db, "select live from howdah.queue_stats('b')") == 1
    assert howdah(dsn, "poison", "replay", "--all", "--origin", "b", "--json").json["replayed"] == 0
    assert howdah(dsn, "poison", "replay", "--all", "--to", "b").out == "1 messages replayed\n"
    assert one(db, "select live from howdah.queue_stats('b')") == 2
    assert howdah(dsn, "poison", "list", "--json").json == []


def test_replay_is_all_or_nothing(dsn: str, dead: list[int], db: Db) -> None:
    refused(howdah(dsn, "poison", "replay", "--id", dead[0], "--id", 999999), "not all of these messages")
    refused(howdah(dsn, "poison", "discard", "--id", dead[0], "--id", 999999), "not all of these messages")
    refused(howdah(dsn, "poison", "replay", "--all", "--to", "nowhere"), "there is no queue 'nowhere'")
    assert len(howdah(dsn, "poison", "list", "--json").json) == 3


@pytest.mark.parametrize(
    "words", [("replay",), ("replay", "--all", "--id", 1), ("replay", "--origin", "a", "--id", 1), ("discard",)]
)
def test_wrong_usage(dsn: str, dead: list[int], words: tuple[object, ...]) -> None:
    assert howdah(dsn, "poison", *words).code == 2
    assert len(howdah(dsn, "poison", "list", "--json").json) == 3


def test_discard(dsn: str, dead: list[int], db: Db) -> None:
    howdah(dsn, "poison", "discard", "--id", dead[0], "--id", dead[0], "--id", dead[2], "--reason", "worthless")

    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == [dead[1]]
    assert one(db, "select count(*) from howdah.audit_journal where event = 'discarded' and reason = 'worthless'") == 2


def test_a_named_exception_queue(dsn: str, db: Db) -> None:
    howdah(dsn, "queue", "create", "grave")
    howdah(dsn, "queue", "create", "q", "-o", "exception_queue=grave", "-o", "max_failed_deliveries=1")
    howdah(dsn, "send", "grave", "alive")
    message = howdah(dsn, "send", "q", "x", "--json").json["message_id"]
    db.execute("select howdah.record_failure('q', %s)", (message,))

    (row,) = howdah(dsn, "poison", "list", "grave", "--json").json
    assert (row["message_id"], row["failures"], row["last_error"]) == (message, 1, None)
    assert howdah(dsn, "poison", "show", message, "--json").json["message"]["queue"] == "grave"
    assert howdah(dsn, "poison", "replay", "--id", message, "--queue", "grave").code == 0
