"""howdah poison: dead messages from the failure to the replay."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
from command import howdah, refused, start
from support import SYSTEM, Connect, Db, one, wait_until


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


def test_replay_one_some_all(dsn: str, dead: list[int], db: Db) -> None:
    assert howdah(dsn, "poison", "replay", "--id", dead[0]).out == "1 message replayed\n"
    assert [m["body"] for m in howdah(dsn, "receive", "a", "-n", 9, "--json").json_lines] == ["first"]
    assert howdah(dsn, "poison", "replay", "--all", "--origin", "b", "--json").json["replayed"] == 1
    assert one(db, "select live from howdah.queue_stats('b')") == 1
    assert howdah(dsn, "poison", "replay", "--all", "--origin", "b", "--json").json["replayed"] == 0
    assert howdah(dsn, "poison", "replay", "--all", "--to", "b").out == "1 message replayed\n"
    assert one(db, "select live from howdah.queue_stats('b')") == 2
    assert howdah(dsn, "poison", "list", "--json").json == []


@pytest.mark.slow
def test_replay_is_all_or_nothing(dsn: str, dead: list[int], db: Db) -> None:
    refused(howdah(dsn, "poison", "replay", "--id", dead[0], "--id", 999999), "not all of these messages")
    refused(howdah(dsn, "poison", "discard", "--id", dead[0], "--id", 999999), "not all of these messages")
    refused(howdah(dsn, "poison", "replay", "--all", "--to", "nowhere"), "there is no queue 'nowhere'")
    assert len(howdah(dsn, "poison", "list", "--json").json) == 3


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


def test_replay_by_cause_and_a_sample(dsn: str, dead: list[int], db: Db) -> None:
    (of_b,) = howdah(dsn, "poison", "causes", "--queue", "b", "--json").json
    replay = ("poison", "replay", "--reason", "mended", "--json")
    assert howdah(dsn, *replay, "--fingerprint", of_b["fingerprint"]).json["replayed"] == 1
    assert one(db, "select live from howdah.queue_stats('b')") == 1
    assert howdah(dsn, *replay, "--error-class", "ValueError", "-n", 1, "--target", "b").json["replayed"] == 1
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == [dead[1]]
    assert one(db, "select count(*) from howdah.audit_acts where act = 'replayed' and reason = 'mended'") == 2


def test_replay_at_a_rate_commits_batch_by_batch_and_takes_its_time(dsn: str, dead: list[int], db: Db) -> None:
    started = time.monotonic()
    assert howdah(dsn, "poison", "replay", "--all", "--rate", "10/s", "--json").json["replayed"] == 3
    assert time.monotonic() - started >= 0.2
    assert one(db, "select count(distinct xid) from howdah.journal where event = 'replayed'") == 3
    assert howdah(dsn, "poison", "replay", "--all", "--rate", "10/s").out == "0 messages replayed\n"


def test_replay_by_selector_at_a_rate(dsn: str, dead: list[int], db: Db) -> None:
    chosen = f"JMSMessageID = 'ID:{dead[0]}'"
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--selector", chosen, "--json").json] == [
        dead[0]
    ]
    assert howdah(dsn, "poison", "replay", "--selector", chosen, "--rate", "50/s", "--json").json["replayed"] == 1
    wrong = howdah(dsn, "poison", "replay", "--selector", "price >")
    assert wrong.code == 1
    assert "invalid selector" in wrong.err


@pytest.mark.slow
def test_replay_at_a_rate_keeps_what_it_did_when_it_is_stopped(dsn: str, dead: list[int], db: Db) -> None:
    replay = ("poison", "replay", "--rate", "600/min", "--id", dead[0], "--id", 999999, "--id", dead[1])
    failed = howdah(dsn, *replay)
    assert failed.code == 1
    assert "stopped: 1 of 3 messages were replayed before" in failed.err
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == dead[1:]

    with start(dsn, "poison", "replay", "--all", "--rate", "1/min") as process:
        wait_until(lambda: one(db, "select count(*) from howdah.audit_acts") == 2)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"1 of 2 messages were replayed before\n" in said
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == dead[2:]


@contextmanager
def interrupted(dsn: str, db: Db, connect: Connect) -> Iterator[tuple[subprocess.Popen[bytes], Db]]:
    """A replay of three, one a minute, that was told to stop while its first waits for what the connection holds."""
    holder = connect()
    holder.execute("begin; lock howdah.audit_acts in exclusive mode")
    waiting = "select count(*) from pg_stat_activity where %s = any (pg_blocking_pids(pid))"
    with start(dsn, "poison", "replay", "--all", "--rate", "1/min") as process:
        assert process.stderr
        wait_until(lambda: one(db, waiting, (holder.info.backend_pid,)) == 1)
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == b"howdah: stopping after this batch; Ctrl-C again does not wait for it\n"
        yield process, holder
    assert process.returncode == 130


@pytest.mark.slow
def test_replay_at_a_rate_that_is_stopped_counts_the_batch_underway(
    dsn: str, dead: list[int], db: Db, connect: Connect
) -> None:
    with interrupted(dsn, db, connect) as (process, holder):
        holder.execute("commit")
        _, said = process.communicate(timeout=60)
    assert said == b"howdah: stopped: 1 of 3 messages were replayed before\n"
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == dead[1:]


@pytest.mark.slow
def test_replay_at_a_rate_that_is_stopped_twice_does_not_wait(
    dsn: str, dead: list[int], db: Db, connect: Connect
) -> None:
    with interrupted(dsn, db, connect) as (process, holder):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        holder.execute("rollback")
    assert said == b"howdah: stopped: 0 of 3 messages were replayed before, and perhaps 1 more\n"
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == dead


def test_what_dies_again_while_replaying_at_a_rate_is_not_replayed_again(dsn: str, dead: list[int], db: Db) -> None:
    db.execute(
        "create function public.fail() returns trigger language plpgsql as $$ begin"
        " perform howdah.record_failure('a', new.message_id), howdah.record_failure('a', new.message_id);"
        " return null; end $$;"
        " create constraint trigger fail after insert on howdah.msgs deferrable initially deferred"
        " for each row when (new.dead_at is null)"
        " execute function public.fail()"
    )
    assert howdah(dsn, "poison", "replay", "--all", "--origin", "a", "--rate", "1000").out == "2 messages replayed\n"
    assert len(howdah(dsn, "poison", "list", "--origin", "a", "--json").json) == 2


def test_edit_sends_a_corrected_copy(dsn: str, dead: list[int], db: Db, tmp_path: Path) -> None:
    sent = howdah(dsn, "poison", "edit", dead[0], "--body", "mended", "-H", "n=1", "--json").json
    assert (sent["original"], sent["queue"], sent["discarded"]) == (dead[0], "a", False)
    (message,) = howdah(dsn, "receive", "a", "--json").json_lines
    assert (message["message_id"], message["body"]) == (sent["message_id"], "mended")
    assert message["headers"] == {"k": "v", "n": 1, "howdah_edited_from": dead[0]}
    file = tmp_path / "body"
    file.write_text("from a file")
    said = howdah(
        dsn, "poison", "edit", dead[1], "--body-file", file, "--without-header", "k", "--target", "b", "--discard"
    ).out
    assert said.endswith("sent to b\n")
    (message,) = howdah(dsn, "receive", "b", "--json").json_lines
    assert (message["body"], message["headers"]) == ("from a file", {"howdah_edited_from": dead[1]})
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == [dead[0], dead[2]]


def test_edit_finds_a_message_in_any_queue_as_its_help_says(dsn: str, db: Db) -> None:
    one(db, "select howdah.create_queue('grave')")
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1, "exception_queue": "grave"}')""")
    message_id = one(db, "select howdah.send('q', 'x')")
    db.execute("select howdah.record_failure('q', %s)", (message_id,))
    assert "Queue of the message. [default: any]" in " ".join(
        howdah(dsn, "poison", "edit", "--help").out.replace("│", " ").split()
    )
    assert howdah(dsn, "poison", "edit", message_id, "--body", "mended", "--json").json["queue"] == "q"


def test_edit_refuses_json_that_is_none_and_needs_an_editor_or_a_change(
    dsn: str, dead: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(howdah(dsn, "poison", "edit", dead[0], "--body", "{", "--content-type", "application/json"), "not the JSON")
    refused(howdah(dsn, "poison", "edit", dead[0]), "stdin is not a terminal")
    refused(howdah(dsn, "poison", "edit", 999999, "--body", "x"), "message 999999 is not there")
    monkeypatch.setattr("howdah.cli.editor.sys", mock.Mock(stdin=mock.Mock(isatty=lambda: True)))
    monkeypatch.setenv("VISUAL", "sed -i s/first/second/")
    assert howdah(dsn, "poison", "edit", dead[0]).code == 0
    assert howdah(dsn, "receive", "a", "--json").json["body"] == "second"
    refused(howdah(dsn, "poison", "edit", dead[2]), "the body was not changed")
    monkeypatch.setenv("VISUAL", "false")
    refused(howdah(dsn, "poison", "edit", dead[2]), "the editor false failed")


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
