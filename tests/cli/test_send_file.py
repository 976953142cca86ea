"""howdah send --file: lines in their order, and above all files with a broken line."""

import fcntl
import json
import signal
import struct
import subprocess
import termios
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import pytest
from command import howdah, refused, start
from support import Db, one, wait_until


@pytest.fixture
def queue(dsn: str) -> str:
    assert howdah(dsn, "queue", "create", "q").code == 0
    return "q"


def bodies(dsn: str, queue: str = "q") -> list[Any]:
    return [message["body"] for message in howdah(dsn, "browse", queue, "-n", 100000, "--json").json_lines]


def test_mixed_bodies_keep_their_order(dsn: str, queue: str) -> None:
    sent: list[Any] = ["text", {"a": [1, None]}, "text", "text", [1], 5, True, "", {"b": "\u2028é"}, 1.5]
    lines = "".join(json.dumps({"body": body}) + "\n" for body in sent)

    result = howdah(dsn, "send", queue, "--file", "-", "--batch", 4, "--json", stdin=lines)

    assert result.json == {"queue": queue, "sent": 10, "last_line": 10}
    assert bodies(dsn) == sent


def test_every_key_of_a_line_and_its_default(dsn: str, queue: str) -> None:
    conversation = str(uuid4())
    line = {
        "headers": {"h": [1]},
        "priority": 8,
        "correlation_id": "c",
        "message_type": "t",
        "reply_to": "r",
        "conversation_id": conversation,
        "content_type": "text/x",
    }
    lines = [{"body": "a"} | line, {"body": "b"}, {"body": "c", "priority": None}]

    howdah(
        dsn,
        *("send", queue, "-f", "-", "-p", 3, "-H", "d=1", "--type", "u", "--reply-to", "s"),
        stdin="\n".join(map(json.dumps, lines)),
    )

    first, second, third = howdah(dsn, "browse", queue, "--json").json_lines
    assert {key: first[key] for key in line} == line
    assert (second["priority"], second["headers"], second["message_type"], second["reply_to"]) == (
        3,
        {"d": 1},
        "u",
        "s",
    )
    assert second["content_type"] == "text/plain"
    assert third["priority"] == 3


def test_raw_lines(dsn: str, queue: str) -> None:
    result = howdah(dsn, "send", queue, "-f", "-", "--raw-lines", stdin='\ufeffone\r\n\n{"body": 1}\n "last')

    assert result.out == "4 messages sent to q\n"
    assert bodies(dsn) == ["one", "", '{"body": 1}', ' "last']


def test_raw_lines_that_are_json(dsn: str, queue: str) -> None:
    words = ("send", queue, "-f", "-", "--raw-lines", "--content-type", "application/json")

    refused(howdah(dsn, *words, stdin='{"a": 1.10}\n{"a"\n'), "line 2: the body is not the JSON")

    assert howdah(dsn, "receive", queue).out.endswith('\n{"a": 1.10}\n')


BROKEN = {
    "not JSON": (b'{"body": "x"', "it is not JSON"),
    "no object": (b'["x"]', "not a JSON object"),
    "no body": (b'{"headers": {}}', "it needs body"),
    "null body": (b'{"body": null}', "body cannot be null"),
    "two bodies": (b'{"body": "x", "body_base64": "eA=="}', "not both"),
    "bad base64": (b'{"body_base64": "?"}', "not base64"),
    "key misspelt": (b'{"body": "x", "corelation_id": "y"}', "there is no key 'corelation_id'"),
    "key twice": (b'{"body": "x", "body": "y"}', "has a key twice"),
    "headers no object": (b'{"body": "x", "headers": [1]}', "headers must be a JSON object"),
    "priority no number": (b'{"body": "x", "priority": "4"}', "priority must be a whole number"),
    "priority a truth": (b'{"body": "x", "priority": true}', "priority must be a whole number"),
    "priority 10": (b'{"body": "x", "priority": 10}', "priority 10 is not between 0 and 9"),
    "priority far out": (b'{"body": "x", "priority": 99999999999999999999}', "out of range"),
    "bad conversation": (b'{"body": "x", "conversation_id": "y"}', "badly formed"),
    "not UTF-8": (b'{"body": "\xff"}', "it is not UTF-8"),
    "NUL in text": (b'{"body": "\\u0000"}', "NUL"),
    "NUL in JSON": (b'{"body": {"a": "\\u0000"}}', "unsupported Unicode escape"),
    "half a surrogate": (b'{"body": "\\ud800"}', "surrogates not allowed"),
    "NaN": (b'{"body": NaN}', "it is not JSON: NaN"),
    "too large a number": (b'{"body": 1e999}', "JSON"),
    "nested too deep": (b'{"body": ' + b"[" * 100000 + b"]" * 100000 + b"}", "deep"),
    "a body that is not the JSON it says": (b'{"body": "{", "content_type": "application/json"}', "not the JSON"),
}


@pytest.mark.slow
def test_all_before_a_broken_line_is_sent_once_and_nothing_after(dsn: str) -> None:
    for case, (line, reason) in BROKEN.items():
        queue = case.replace(" ", "-")
        howdah(dsn, "queue", "create", queue)
        good = [f'{{"body": "{number}"}}'.encode() for number in range(1, 9)]
        file = b"\n".join([*good[:4], line, *good[5:]])

        result = howdah(dsn, "send", queue, "-f", "-", "--batch", 3, stdin=file)

        refused(result, "howdah: line 5: ")
        assert reason in result.err
        assert "(lines 1 to 4 were sent, none from line 5 on; go on with --from-line 5)" in result.err
        assert bodies(dsn, queue) == ["1", "2", "3", "4"], case

        mended = b"\n".join([*good[:4], b'{"body": "mended"}', *good[5:]])
        assert howdah(dsn, "send", queue, "-f", "-", "--from-line", 5, stdin=mended).code == 0
        assert bodies(dsn, queue) == ["1", "2", "3", "4", "mended", "6", "7", "8"], case


@pytest.mark.slow
def test_a_broken_line_anywhere_in_a_batch(dsn: str, db: Db) -> None:
    for bad in ('{"body": "x", "priority": 10}', "{"):
        for broken in (1, 2, 99, 100, 101, 150, 200, 201):
            howdah(dsn, "queue", "create", "q")
            lines = ['{"body": "x"}'] * 250
            lines[broken - 1] = bad

            result = howdah(dsn, "send", "q", "-f", "-", "--batch", 100, stdin="\n".join(lines))

            refused(result, f"line {broken}: ")
            said = "no line was sent" if broken == 1 else f"lines 1 to {broken - 1} were sent"
            assert f"({said}, none from line {broken} on; go on with --from-line {broken})" in result.err
            assert one(db, "select howdah.drop_queue('q', force => true)") == broken - 1


def test_an_earlier_line_that_the_server_refuses_comes_before_a_later_one_that_is_no_json(dsn: str, queue: str) -> None:
    refused(
        howdah(dsn, "send", queue, "-f", "-", stdin='{"body": "1"}\n{"body": "x", "priority": 10}\n{"body": "3"}\n{'),
        "line 2: priority 10",
    )
    assert bodies(dsn) == ["1"]


def test_empty_lines_count_but_are_no_messages(dsn: str, queue: str) -> None:
    refused(howdah(dsn, "send", queue, "-f", "-", stdin='\n{"body": "a"}\n\n  \n{'), "line 5: ")
    assert howdah(dsn, "send", queue, "-f", "-", stdin="\n\n").out == "0 messages sent to q\n"
    assert bodies(dsn) == ["a"]


@pytest.mark.slow
def test_a_lost_connection_says_what_was_sent(dsn: str, queue: str, db: Db) -> None:
    process = start(dsn, "send", queue, "-f", "-", "--batch", 2, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b'{"body": 1}\n' * 4)
    process.stdin.flush()
    wait_until(lambda: one(db, "select count(*) from howdah.msgs") == 4)
    db.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
        " and pid <> pg_backend_pid()"
    )
    _, err = process.communicate(b'{"body": 1}\n' * 4, timeout=60)

    assert process.returncode == 1
    assert b"lines 1 to 4 were sent, none from line 5 on; go on with --from-line 5" in err
    assert err.count(b"\n") == 1
    assert one(db, "select count(*) from howdah.msgs") == 4


def unread(pipe: IO[bytes]) -> int:
    """Bytes that lie in a pipe."""
    (length,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"    "))
    return int(length)


@pytest.mark.slow
def test_ctrl_c_says_what_was_sent(dsn: str, queue: str, db: Db) -> None:
    process = start(dsn, "send", queue, "-f", "-", "--batch", 2)
    assert process.stdin is not None
    lines = process.stdin
    lines.write(b'{"body": 1}\n' * 2)
    lines.flush()
    wait_until(lambda: one(db, "select count(*) from howdah.msgs") == 2)
    lines.write(b'{"body": 1}\n')
    lines.flush()
    wait_until(lambda: unread(lines) == 0)  # it reads on only when it has heard of the commit
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert b"lines 1 to 2 were sent, none from line 3 on" in err
    assert b"Traceback" not in err
    assert one(db, "select count(*) from howdah.msgs") == 2


@pytest.mark.slow
def test_a_file_by_name_from_a_program(dsn: str, queue: str, tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_text('{"body": "é"}\n{"body": {"x": 1}}\n')

    done = start(dsn, "send", queue, "--file", file)
    out, err = done.communicate(timeout=60)

    assert (done.returncode, out, err) == (0, b"2 messages sent to q\n", b"")
    assert bodies(dsn) == ["é", {"x": 1}]
