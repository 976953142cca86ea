"""howdah receive and browse: what is printed is consumed, what could not be printed is not."""

import os
import subprocess
import sys
import time

import pytest
from command import howdah, refused, start
from support import Db, one


@pytest.fixture
def queue(dsn: str) -> str:
    howdah(dsn, "queue", "create", "q")
    return "q"


def test_receive_consumes_and_browse_does_not(dsn: str, queue: str) -> None:
    for body, priority in (("low", 1), ("high", 9)):
        howdah(dsn, "send", queue, body, "-p", priority)

    assert [m["body"] for m in howdah(dsn, "browse", queue, "--json").json_lines] == ["high", "low"]
    table = howdah(dsn, "browse", queue).out
    assert table.index("high") < table.index("low")
    assert len(howdah(dsn, "browse", queue, "-n", 1, "--json").json_lines) == 1

    assert [m["body"] for m in howdah(dsn, "receive", queue, "--json").json_lines] == ["high"]
    assert howdah(dsn, "receive", queue, "-n", 5).out.endswith("\nlow\n")

    nothing = howdah(dsn, "receive", queue)
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no message in q\n")
    nothing = howdah(dsn, "receive", queue, "--json")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "")
    assert howdah(dsn, "browse", queue).out == "no ready message in q\n"


def test_bad_arguments(dsn: str, queue: str) -> None:
    howdah(dsn, "send", queue, "x")
    for words, code, text in (
        (("receive", "q", "-n", -1), 1, "1 to 10000, not -1"),
        (("receive", "q", "-n", 0), 1, "1 to 10000, not 0"),
        (("receive", "q", "-n", 10001), 1, "1 to 10000"),
        (("receive", "q", "-n", 10**30), 1, "out of range"),
        (("receive", "q", "--wait", -1), 2, "is not a duration"),
        (("receive", "q", "--wait", "nan"), 2, "is not a duration"),
        (("browse", "q", "-n", -1), 2, "is not 1 or more"),
        (("receive",), 2, "QUEUE"),
    ):
        result = howdah(dsn, *words)

        assert result.code == code, result
        assert text in " ".join(result.err.split())
    assert len(howdah(dsn, "browse", queue, "--json").json_lines) == 1


def test_wait(dsn: str, queue: str) -> None:
    begun = time.monotonic()
    assert howdah(dsn, "receive", queue, "--wait", 0.5).out == ""
    assert 0.5 <= time.monotonic() - begun < 30

    howdah(dsn, "send", queue, "late", "--delay", 0.3)
    assert howdah(dsn, "receive", queue, "--wait", 20).out.endswith("\nlate\n")


@pytest.mark.slow
def test_a_broken_pipe_puts_the_messages_back(dsn: str, queue: str, db: Db) -> None:
    for _ in range(3):
        howdah(dsn, "send", queue, "x" * 100_000)
    for words in (("-n", 3), ("-n", 3, "--json")):
        reading, writing = os.pipe()
        os.close(reading)

        process = start(dsn, "receive", queue, *words, stdout=writing)
        os.close(writing)
        _, err = process.communicate(timeout=60)

        assert process.returncode == 1
        assert b"Traceback" not in err
        assert one(db, "select live from howdah.queue_stats('q')") == 3
        assert one(db, "select consumed from howdah.queue_stats('q')") == 0


def test_a_body_cannot_steer_the_terminal(dsn: str, queue: str) -> None:
    evil = "\x1b[2J\x07[red]x[/red]\r"
    for _ in range(2):
        howdah(dsn, "send", queue, evil, "-H", "h=\x1b[2J")

    shown = howdah(dsn, "browse", queue).out + howdah(dsn, "receive", queue).out
    assert "\x1b" not in shown
    assert "\\x1b[2J" in shown
    assert "[red]x[/red]" in shown
    assert howdah(dsn, "receive", queue, "--json").json["body"] == evil


def test_json_says_what_would_steer_a_terminal_by_escapes_that_mean_the_same(dsn: str, queue: str, db: Db) -> None:
    evil = "\x9b2J\x7f\u202e\u200d\ufeff"
    howdah(dsn, "send", queue, evil, "-H", f"h={evil}")
    one(db, "select howdah.send('q', jsonb_build_object('a', %s::text))", (evil,))

    shown = howdah(dsn, "receive", queue, "-n", 2, "--json")
    assert not set(evil) - set("2J") & set(shown.out)
    assert [m["body"] for m in shown.json_lines] == [evil, {"a": evil}]
    assert shown.json_lines[0]["headers"] == {"h": evil}


def test_bytes_and_json(dsn: str, queue: str, db: Db) -> None:
    db.execute("select howdah.send('q', '\\x00ff'::bytea), howdah.send('q', '{\"a\": 1.10}'::jsonb)")

    assert "\\x00ff" in howdah(dsn, "browse", queue).out
    first, second = howdah(dsn, "receive", queue, "-n", 2, "--json").out.splitlines()

    assert '"body_base64": "AP8="' in first
    assert '"body": {"a": 1.10}' in second


def test_text_that_is_called_json_stays_on_one_line(dsn: str, queue: str, db: Db) -> None:
    db.execute("select howdah.send('q', E'{\"a\":\\n1}'::text, content_type => 'application/json')")
    db.execute("select howdah.send('q', 'no json'::text, content_type => 'application/json')")

    first, second = howdah(dsn, "receive", queue, "-n", 2, "--json").json_lines

    assert (first["body"], second["body"]) == ({"a": 1}, "no json")


def test_browse_shows_what_a_selector_a_correlation_id_or_a_number_says_and_goes_on_behind_the_last(
    dsn: str, queue: str, db: Db
) -> None:
    for n in range(4):
        one(
            db,
            "select howdah.send(%s, %s, jsonb_build_object('n', %s::integer), correlation_id => %s)",
            (queue, f"m{n}", n, f"c{n}"),
        )

    def shown(*options: object) -> list[str]:
        return [m["body"] for m in howdah(dsn, "queue", "browse", queue, "--json", *options).json_lines]

    first = howdah(dsn, "browse", queue, "-n", 1, "--selector", "n > 0", "--json").json_lines[0]
    assert first["body"] == "m1"
    assert shown("--after", f"{first['priority']}:{first['position']}") == ["m2", "m3"]
    assert shown("--selector", "n > 0", "--after", f"{first['priority']}:{first['position']}", "-n", 1) == ["m2"]
    assert shown("--correlation-id", "c3") == ["m3"]
    assert shown("--message", first["message_id"]) == ["m1"]
    refused(howdah(dsn, "browse", queue, "--selector", "n >"), "position 4")
    assert "PRIORITY:POSITION" in howdah(dsn, "browse", queue, "--after", "x").err


@pytest.mark.slow
def test_with_stdout_closed_a_receive_fails_and_its_messages_stay(db: Db, dsn: str) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x')")
    words = [sys.executable, "-m", "howdah.cli.main", "receive", "q"]
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *words],
        env=os.environ | {"HOWDAH_DSN": dsn},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (closed.returncode, closed.stderr) == (1, "howdah: [Errno 9] stdout is closed\n")
    assert one(db, "select count(*) from howdah.browse('q')") == 1
