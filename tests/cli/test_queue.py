"""howdah queue: every command, its --json, and what it refuses."""

import os
import pty
import subprocess
import sys

import pytest
from command import howdah, refused
from support import Db, one

from howdah.text.subjects import SUBJECTS

BAD_NAMES = ["a'b", 'a"b', "a;drop table x", "x" * 300, "", "a b", "_SYSTEM.mine", "a\nb"]


def test_create_list_show_alter(dsn: str) -> None:
    assert howdah(dsn, "queue", "create", "orders", "-o", "max_failed_deliveries=2").out == "queue orders created\n"
    created = howdah(dsn, "queue", "create", "mail", "-o", "exception_queue=orders", "--json").json
    assert created["queue"] == "mail"

    listed = {row["queue"]: row for row in howdah(dsn, "queue", "list", "--json").json}
    assert listed["orders"]["max_failed_deliveries"] == 2
    assert listed["mail"]["exception_mode"] == "named"
    assert "orders" in howdah(dsn, "queue", "list").out

    assert howdah(dsn, "queue", "alter", "orders", "-o", "default_priority=7").code == 0
    assert howdah(dsn, "queue", "show", "orders", "--json").json["default_priority"] == 7
    assert "* default_priority               7  (default: 4)\n" in howdah(dsn, "queue", "show", "orders").out


def test_a_bad_name_is_refused_and_nothing_is_made(dsn: str) -> None:
    before = howdah(dsn, "queue", "list", "--json").json

    for name in BAD_NAMES:
        refused(howdah(dsn, "queue", "create", name), "queue name")

    assert howdah(dsn, "queue", "list", "--json").json == before


def test_a_bad_option_is_refused(dsn: str) -> None:
    for option, code, text in (
        ("colour=red", 1, "Options are: preset, max_failed_deliveries,"),
        ("max_failed_deliveries=-2", 1, "whole number from -1"),
        ("max_failed_deliveries=many", 1, "whole number from -1"),
        ("journal_level=loud", 1, "off, exits, full"),
        ("default_time_to_live_ms=NaN", 1, "whole number"),
        ("max_failed_deliveries", 2, "is not key=value"),
    ):
        result = howdah(dsn, "queue", "create", "q", "-o", option)

        assert result.code == code, result
        assert text in " ".join(result.err.split())
        refused(howdah(dsn, "queue", "show", "q"), "there is no queue 'q'")


def test_an_unknown_queue_is_one_line(dsn: str) -> None:
    for words in (
        ("queue", "show"),
        ("queue", "stats"),
        ("queue", "pause"),
        ("queue", "resume"),
        ("queue", "purge", "--yes"),
        ("queue", "drop", "--yes"),
        ("queue", "alter", "-o", "default_priority=1"),
        ("browse",),
        ("receive",),
        ("poison", "list"),
        ("poison", "replay", "--all", "--queue"),
        ("poison", "discard", "--id", "1", "--queue"),
    ):
        refused(howdah(dsn, *words, "nowhere"), "there is no queue 'nowhere'")


def test_a_name_twice_is_refused(dsn: str) -> None:
    howdah(dsn, "queue", "create", "q")
    refused(howdah(dsn, "queue", "create", "q"), "exists already")


def test_pause_and_resume_each_side(dsn: str) -> None:
    howdah(dsn, "queue", "create", "q")

    assert howdah(dsn, "queue", "pause", "q", "--sending").out == "q: sending paused\n"
    refused(howdah(dsn, "send", "q", "x"), "sending to queue 'q' is paused")
    refused(howdah(dsn, "send", "q", "--file", "-", stdin='{"body": "x"}\n'), "sending to queue 'q' is paused")
    assert howdah(dsn, "receive", "q").code == 0

    assert howdah(dsn, "queue", "resume", "q", "--json").json["resumed"] == {"sending": True, "receiving": True}
    assert howdah(dsn, "send", "q", "x").code == 0

    assert howdah(dsn, "queue", "pause", "q", "--receiving").out == "q: receiving paused\n"
    refused(howdah(dsn, "receive", "q"), "receiving from queue 'q' is paused")
    assert "receiving" in howdah(dsn, "queue", "list").out
    assert howdah(dsn, "queue", "resume", "q", "--receiving").code == 0
    assert howdah(dsn, "receive", "q").out.endswith("\nx\n")


def test_stats(dsn: str) -> None:
    howdah(dsn, "queue", "create", "q")
    howdah(dsn, "send", "q", "x")
    howdah(dsn, "send", "q", "later", "--delay", 60)

    (row,) = howdah(dsn, "queue", "stats", "q", "--json").json

    assert (row["live"], row["parked"], row["dead"], row["exact"]) == (1, 1, 0, True)
    assert 0 <= row["oldest_age"] < 60
    assert "parked" in howdah(dsn, "queue", "stats").out


def test_stats_say_what_was_not_counted_now(dsn: str, db: Db) -> None:
    howdah(dsn, "queue", "create", "q")
    one(db, "select cardinality(howdah.send_batch('q', array(select 'x' from generate_series(1, 10001))))")
    assert "estimated" in howdah(dsn, "queue", "stats", "q").out
    one(db, "select howdah.maintain_backlog()")
    assert " ago" in howdah(dsn, "queue", "stats", "q").out


def test_purge_and_drop_ask_first(dsn: str) -> None:
    howdah(dsn, "queue", "create", "q")
    howdah(dsn, "send", "q", "x")

    refused(howdah(dsn, "queue", "purge", "q", stdin="y\n"), "stdin is not a terminal")
    refused(howdah(dsn, "queue", "drop", "q", stdin="y\n"), "stdin is not a terminal")
    assert howdah(dsn, "queue", "stats", "q", "--json").json[0]["live"] == 1

    refused(howdah(dsn, "queue", "drop", "q", "--yes"), "holds messages")
    assert howdah(dsn, "queue", "purge", "q", "--yes").out == "1 message of q discarded\n"
    howdah(dsn, "send", "q", "x")
    assert howdah(dsn, "queue", "drop", "q", "--force", "-y", "--json").json == {"queue": "q", "discarded": 1}
    refused(howdah(dsn, "queue", "show", "q"), "there is no queue")


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "code", "left"), [(b"n\n", 1, 1), (b"y\n", 0, 0)])
def test_at_a_terminal_the_person_is_asked(dsn: str, answer: bytes, code: int, left: int) -> None:
    howdah(dsn, "queue", "create", "q")
    howdah(dsn, "send", "q", "x")
    terminal, stdin = pty.openpty()
    os.write(terminal, answer)

    done = subprocess.run(
        [sys.executable, "-m", "howdah.cli.main", "queue", "purge", "q", "--dsn", dsn],
        stdin=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    os.close(terminal)
    os.close(stdin)

    assert done.returncode == code, done
    assert "Discard all messages of q for good?" in done.stderr
    assert howdah(dsn, "queue", "stats", "q", "--json").json[0]["live"] == left


def test_the_engines_own_queue_is_left_alone(dsn: str) -> None:
    system = next(row["queue"] for row in howdah(dsn, "queue", "list", "--json").json if row["is_system"])
    for words in (("drop", system, "--yes"), ("pause", system), ("alter", system, "-o", "default_priority=1")):
        refused(howdah(dsn, "queue", *words), "belongs to the engine")


def test_a_role_without_the_right(dsn: str) -> None:
    howdah(dsn, "queue", "create", "q")
    one_role = howdah(dsn, "receive", "q", "--role", "howdah_producer")
    if "does not exist" in one_role.err:
        pytest.skip("installed in one-role mode")
    refused(one_role, "permission denied")
    refused(howdah(dsn, "queue", "create", "q2", "--role", "howdah_consumer"), "permission denied")
    assert howdah(dsn, "send", "q", "x", "--role", "howdah_producer").code == 0
    assert howdah(dsn, "receive", "q", "--role", "howdah_consumer").code == 0
    refused(howdah(dsn, "queue", "list", "--role", "no_such_role"), "no_such_role")


def test_temporary_queues_are_listed_only_if_asked_for(dsn: str, db: Db) -> None:
    name = one(db, "select howdah.create_temporary_queue()")
    assert name not in howdah(dsn, "queue", "list").out
    assert name in [row["queue"] for row in howdah(dsn, "queue", "list", "--temporary", "--json").json]
    refused(howdah(dsn, "queue", "drop", name, "--force", "--yes"), "not managed")


def test_show_groups_the_options_by_subject_and_marks_what_is_not_the_default(dsn: str) -> None:
    howdah(
        dsn, "queue", "create", "q", "-o", "preset=activemq", "-o", "max_failed_deliveries=2", "-o", "message_limit=9"
    )
    shown = howdah(dsn, "queue", "show", "q").out
    subjects = [line for line in shown.splitlines() if line and line[0] not in " *"]
    assert subjects == list(SUBJECTS)
    marked = [line.split()[1] for line in shown.splitlines() if line.startswith("*")]
    assert marked == ["max_failed_deliveries", "message_limit"]
    assert "* message_limit                  9  (default: none)\n" in shown
    assert f"  {'preset':<29}  activemq\n" in shown

    assert howdah(dsn, "queue", "show", "q", "--changed", "--json").json == {
        "preset": "activemq", "max_failed_deliveries": 2, "message_limit": 9,
    }  # fmt: skip
    changed = howdah(dsn, "queue", "show", "q", "--changed").out
    assert "max_failed_deliveries" in changed
    assert "redelivery_delay_ms" not in changed
    howdah(dsn, "queue", "create", "plain")
    assert howdah(dsn, "queue", "show", "plain", "--changed", "--json").json == {"preset": "howdah"}


def test_every_option_of_a_queue_has_a_subject(db: Db) -> None:
    named = [key for keys in SUBJECTS.values() for key in keys]
    assert sorted(named) == sorted(one(db, "select array_agg(key) from howdah._option_kinds() where owner = 'queue'"))


@pytest.mark.parametrize("preset", ["howdah", "websphere", "websphere_mq", "service_broker", "activemq"])
def test_the_defaults_of_a_preset_are_what_a_queue_made_with_it_has(dsn: str, db: Db, preset: str) -> None:
    howdah(dsn, "queue", "create", "q", "-o", f"preset={preset}")
    assert one(db, "select howdah.default_options(%s) = howdah.queue_options('q')", (preset,))


def test_limits_of_handlers_are_set_as_options_and_listed_with_what_is_used(dsn: str) -> None:
    assert howdah(dsn, "queue", "limits").out == "no queue has such limits\n"
    for queue in ("calls", "mails", "free"):
        howdah(dsn, "queue", "create", queue)
    howdah(dsn, "queue", "alter", "calls", "-o", "max_concurrent=2", "-o", "rate_limit=1/1h")
    howdah(dsn, "queue", "alter", "mails", "-o", "limit_key=tenant", "-o", "max_concurrent_per_key=1")
    howdah(dsn, "send", "calls", "x")
    howdah(dsn, "receive", "calls")
    calls, mails = howdah(dsn, "queue", "limits", "--json").json
    assert (calls["queue_name"], calls["max_concurrent"], calls["in_hand"], calls["leased"]) == ("calls", 2, 0, 0)
    assert 3500 < calls["limited_for"] <= 3600
    assert (mails["limit_key"], mails["max_concurrent_per_key"], mails["limited_for"]) == ("tenant", 1, None)
    assert "1/1h" in howdah(dsn, "queue", "limits", "calls").out
    refused(howdah(dsn, "queue", "limits", "gone"), "there is no queue 'gone'")
    refused(howdah(dsn, "queue", "alter", "calls", "-o", "rate_limit=fast"), "rate_limit")


def test_move_empties_a_queue_into_another_and_delayed_shows_what_waits(dsn: str) -> None:
    for queue in ("a", "b"):
        howdah(dsn, "queue", "create", queue)
    for number in range(3):
        howdah(dsn, "send", "a", number)
    howdah(dsn, "send", "a", "later", "--delay", "3600")
    (waiting,) = howdah(dsn, "queue", "delayed", "a", "--json").json
    assert waiting["reason"] == "delay"
    assert str(waiting["message_id"]) in howdah(dsn, "queue", "delayed", "a").out
    assert howdah(dsn, "queue", "delayed", "b").out == "no message of b waits for its time\n"

    assert howdah(dsn, "queue", "move", "a", "b", "--dry-run").out == "4 messages would be moved to b\n"
    assert howdah(dsn, "queue", "move", "a", "b", "-n", 1).out == "1 message moved to b\n"
    assert howdah(dsn, "queue", "move", "a", "b", "--json").json["moved"] == 3
    assert howdah(dsn, "queue", "stats", "b", "--json").json[0]["live"] == 4
    refused(howdah(dsn, "queue", "move", "a", "a"), "are in queue 'a' already")
