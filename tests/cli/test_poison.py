"""howdah poison: dead messages are listed, explained, moved, parked and discarded."""

import pytest
from command import howdah, refused
from poison_support import three_dead
from support import SYSTEM, Db, one


@pytest.fixture
def dead(dsn: str, db: Db) -> list[int]:
    """Two dead messages of queue a and one of queue b."""
    return three_dead(dsn, db)


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

    assert text.index("bad second 1") < text.index("  Traceback of second\n    line 1") < text.index("bad second 2")
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


def test_acts_are_on_the_systems_exception_destination_whatever_other_queues_the_engine_has(
    dsn: str, dead: list[int], db: Db
) -> None:
    howdah(dsn, "queue", "create", "mq", "-o", "preset=websphere_mq", "-o", "notify_admin=true")
    assert one(db, "select count(*) from howdah.list_queues() where is_system") == 3
    assert howdah(dsn, "poison", "park", "--id", dead[0]).out == "1 message parked\n"
    assert howdah(dsn, "poison", "retry", "--all").out == "1 message released\n"
    assert howdah(dsn, "poison", "discard", "--id", dead[0]).out == "1 message discarded\n"
    assert howdah(dsn, "poison", "replay", "--all").out == "2 messages replayed\n"


WRONG: list[tuple[object, ...]] = [
    ("replay",),
    ("replay", "--all", "--id", 1),
    ("replay", "--origin", "a", "--id", 1),
    ("replay", "--id", 1, "--number", 1),
    ("replay", "--all", "--rate", "fast"),
    ("replay", "--all", "--rate", "0/s"),
    ("replay", "--older-than", "yesterday"),
    ("replay", "--older-than", "999999999w"),
    ("discard",),
    ("move", "--id", 1),
    ("move", "--target", "a"),
    ("move", "--all"),
    ("move", "--all", "--id", 1, "--target", "a"),
    ("discard", "--origin", "a", "--id", 1),
    ("discard", "--id", 1, "--number", 1),
    ("park",),
    ("park", "--id", 1, "--for", "ever"),
    ("retry",),
    ("retry", "--all", "--id", 1),
    ("edit", 1, "--body", "x", "--body-file", __file__),
    ("edit", 1, "--body-file", "/nowhere"),
    ("list", "a", "--queue", "b"),
    ("causes", "--since", "x"),
]


def test_wrong_usage(dsn: str, dead: list[int]) -> None:
    for words in WRONG:
        assert howdah(dsn, "poison", *words).code == 2, words
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


def test_list_by_class_cause_and_age(dsn: str, dead: list[int], db: Db) -> None:
    def listed(*words: object) -> list[int]:
        return [row["message_id"] for row in howdah(dsn, "poison", "list", "--json", *words).json]

    db.execute("select howdah.record_failure('a', howdah.send('a', 'x'), error_class => 'KeyError')")
    causes = {row["sample_message"]: row["fingerprint"] for row in howdah(dsn, "poison", "causes", "--json").json}
    assert listed("--error-class", "ValueError") == dead
    assert listed("--error-class", "KeyError") == []
    assert listed("--fingerprint", causes[dead[1]]) == [dead[1]]
    assert listed("--older-than", "1h") == []
    assert listed("--newer-than", "1h", "--origin", "a") == dead[:2]
    assert listed("--queue", "a") == []


def test_causes(dsn: str, dead: list[int]) -> None:
    rows = howdah(dsn, "poison", "causes", "--json").json

    assert sorted((row["incidents"], row["messages"], row["dead"]) for row in rows) == [(2, 1, 1)] * 3
    assert {row["sample_text"] for row in rows} == {"bad first 2", "bad second 2", "bad third 2"}
    (of_b,) = howdah(dsn, "poison", "causes", "--queue", "b", "--json").json
    assert of_b["sample_message"] == dead[2]
    assert "ValueError: bad third 2" in howdah(dsn, "poison", "causes", "--queue", "b", "--since", "5min").out
    assert len(howdah(dsn, "poison", "causes", "-n", 1, "--json").json) == 1
    assert howdah(dsn, "poison", "causes", "--since", "0").out == "no failures\n"
    assert "of the last 1 failures, since 20" in howdah(dsn, "poison", "causes", "--last", 1).err
    assert "of the last" not in howdah(dsn, "poison", "causes").err


def test_move_park_and_retry(dsn: str, dead: list[int], db: Db) -> None:
    move = ("poison", "move", "--id", dead[0], "--target", "b", "--reason", "for Ann", "--json")
    assert howdah(dsn, *move).json["moved"] == 1
    refused(howdah(dsn, *move), "not all of these messages")
    shown = howdah(dsn, "poison", "show", dead[0], "--queue", "b", "--json").json
    assert shown["message"]["origin_queue"] == "a"

    park = ("poison", "park", "--id", dead[0], "--queue", "b")
    assert howdah(dsn, *park, "--for", "90m", "--json").json["parked"] == 1
    assert howdah(dsn, *park).out == "1 message parked\n"
    shown = howdah(dsn, "poison", "show", dead[0], "--json").json
    assert (shown["state"], shown["parked_reason"], shown["due_at"][:4]) == ("parked", "operator", "9999")
    assert "parked" in howdah(dsn, "poison", "show", dead[0]).out
    assert howdah(dsn, "receive", "b", "--json").out == ""

    assert howdah(dsn, "poison", "retry", "--id", dead[0], "--queue", "b", "--json").json["released"] == 1
    assert howdah(dsn, "poison", "retry", "--all", "--queue", "b").out == "0 messages released\n"
    assert howdah(dsn, "receive", "b", "--json").json["message_id"] == dead[0]
    acts = howdah(dsn, "poison", "acts", "--id", dead[0], "--json").json[::-1]
    assert [(row["act"], row["queue_name"], row["reason"]) for row in acts] == [
        ("moved", SYSTEM, "for Ann"), ("parked", "b", None), ("parked", "b", None), ("retried", "b", None)
    ]  # fmt: skip
    assert "for Ann" in howdah(dsn, "poison", "acts", "--queue", SYSTEM, "--wide").out
    assert howdah(dsn, "poison", "acts", "--queue", "a").out == "nothing was done\n"


def test_show_the_whole_body(dsn: str, dead: list[int], db: Db) -> None:
    long = one(db, "select howdah.send('a', repeat('long ', 200) || 'end')")
    assert "end" not in howdah(dsn, "poison", "show", long).out
    assert howdah(dsn, "poison", "show", long, "--full").out.endswith("long end\n")


def test_no_text_of_a_message_forges_a_line_of_the_report(dsn: str, db: Db) -> None:
    db.execute("select howdah.create_queue('q', '{\"max_failed_deliveries\": 1}')")
    forged = "text/plain\nreason         forged\u2028forged\x1b[2J\u202e"
    number = one(db, "select howdah.send('q', 'x', content_type => %s, correlation_id => %s)", (forged, forged))
    with db.transaction(force_rollback=True):
        db.execute("select * from howdah.receive('q')")
    db.execute("select howdah.record_failure('q', %s, %s, traceback => %s)", (number, forged, forged))

    for words in (("show", number), ("list",), ("causes",)):
        shown = howdah(dsn, "poison", *words)
        assert shown.code == 0
        assert "forged" in shown.out
        assert not [line for line in shown.out.splitlines() if line.startswith(("reason         forged", "forged"))]
        assert not {"\x1b", "\u202e", "\u2028"} & set(shown.out)


def test_move_and_discard_take_the_filters_of_replay_and_a_dry_run_changes_nothing(
    dsn: str, dead: list[int], db: Db
) -> None:
    def left() -> list[int]:
        return [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json]

    poison = ("poison",)
    for act, more in (("replay", ()), ("move", ("--to", "b")), ("discard", ())):
        assert howdah(dsn, *poison, act, "--origin", "a", *more, "--dry-run").out.startswith("2 messages would be ")
        assert howdah(dsn, *poison, act, "--id", dead[2], *more, "--dry-run").out.startswith("1 message would be ")
    assert howdah(dsn, "poison", "discard", "--all", "--dry-run", "--json").json["would_be_discarded"] == 3
    assert left() == dead
    assert howdah(dsn, "poison", "move", "--origin", "a", "-n", 1, "--to", "b").out == "1 message moved to b\n"
    assert left() == dead[1:]
    refused(howdah(dsn, "poison", "discard", "--error-class", "ValueError"), "needs confirmation")
    assert left() == dead[1:]
    assert howdah(dsn, "poison", "discard", "--error-class", "ValueError", "--origin", "b", "--yes").code == 0
    assert left() == dead[1:2]
    assert howdah(dsn, "poison", "move", "--all", "--to", "b", "--json").json["moved"] == 1
    assert left() == []
