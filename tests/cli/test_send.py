"""howdah send: one message, its body and everything about it."""

from typing import Any

import pytest
from command import howdah, refused
from support import Db, column, one

from howdah.engine import connect


@pytest.fixture
def queue(dsn: str) -> str:
    assert howdah(dsn, "queue", "create", "q").code == 0
    return "q"


def bodies(dsn: str, queue: str = "q") -> list[Any]:
    return [message["body"] for message in howdah(dsn, "browse", queue, "-n", 100000, "--json").json_lines]


def test_one_message_with_everything(dsn: str, queue: str) -> None:
    sent = howdah(
        dsn,
        *("send", queue, "hello", "--priority", 9, "-H", "a=1", "-H", "b=x=y", "--correlation-id", "c", "--type", "t"),
        *("--reply-to", "r", "--ttl", 60, "--non-persistent", "--content-type", "text/html", "--json"),
    )

    (message,) = howdah(dsn, "browse", queue, "--json").json_lines
    assert sent.json == {"queue": queue, "message_id": message["message_id"]}
    assert message["expires_at"] > message["sent_at"]
    expected = {
        "body": "hello",
        "priority": 9,
        "headers": {"a": 1, "b": "x=y"},
        "correlation_id": "c",
        "message_type": "t",
        "reply_to": "r",
        "delivery_mode": "non-persistent",
        "content_type": "text/html",
    }
    assert {key: message[key] for key in expected} == expected


def test_bad_arguments_send_nothing(dsn: str, queue: str) -> None:
    for words, code, text in (
        (("--priority", 10), 1, "priority 10 is not between 0 and 9"),
        (("--priority", 99999999999), 1, "out of range"),
        (("--priority", "high"), 2, "valid integer"),
        (("--ttl", 0), 1, "not positive"),
        (("--delay", -1), 2, "is not a duration"),
        (("--ttl", "nan"), 2, "is not a duration"),
        (("--delay", "inf"), 2, "is not a duration"),
        (("--header", "novalue"), 2, "is not key=value"),
        (("--header", "a=1", "--header", "a=2"), 2, "given twice"),
        (("--content-type", "application/json"), 1, "not the JSON that its content type says"),
        (("--file", "-"), 2, "either a BODY or a --file"),
        (("--from-line", 2), 2, "need a --file"),
    ):
        result = howdah(dsn, "send", queue, "body", *words)

        assert result.code == code, result
        assert text in " ".join(result.err.replace("│", " ").split())
        assert "Traceback" not in result.err
    assert bodies(dsn) == []


def test_json_body_sends_json_that_receivers_get_parsed(dsn: str, queue: str) -> None:
    sent = howdah(dsn, "send", queue, '{"id": 1}', "--json-body")

    assert (sent.code, sent.err) == (0, "")
    (message,) = howdah(dsn, "browse", queue, "--json").json_lines
    assert message["content_type"] == "application/json"
    with connect(dsn) as connection, connection.session() as session, session.transaction():
        assert [message.data for message in session.receive(queue)] == [{"id": 1}]
    refused(howdah(dsn, "send", queue, '{"id": 1', "--json-body"), "not the JSON that its content type says")
    refused(howdah(dsn, "send", queue, "[]", "--json-body", "--content-type", "text/plain"), "content type", 2)
    assert bodies(dsn) == []


def test_a_text_that_looks_like_json_is_sent_as_text_with_a_note_that_names_the_option(dsn: str, queue: str) -> None:
    for body in ('{"id": 1}', " [1]"):
        sent = howdah(dsn, "send", queue, body)
        assert (sent.code, sent.err.count("\n")) == (0, 1)
        assert "was sent as text; --json-body sends it as JSON" in sent.err
    for words in (("hello",), ("17",), ("{no json",), ('{"a": 1}', "--content-type", "text/plain")):
        assert howdah(dsn, "send", queue, *words).err == ""
    assert bodies(dsn)[0] == '{"id": 1}'


def test_no_body_at_all_is_wrong_usage(dsn: str, queue: str) -> None:
    assert howdah(dsn, "send", queue, stdin="piped").code == 2
    assert howdah(dsn, "send", queue, "--file", "/nowhere/at/all").code == 2
    refused(howdah(dsn, "send", "nowhere", "x"), "there is no queue 'nowhere'")
    refused(howdah(dsn, "send", "nowhere", "-f", "-", stdin='{"body": 1}'), "there is no queue 'nowhere'")


def test_a_body_over_the_limit(dsn: str, queue: str) -> None:
    howdah(dsn, "queue", "alter", queue, "-o", "max_message_bytes=3")
    refused(howdah(dsn, "send", queue, "four"), "takes at most 3")
    refused(howdah(dsn, "send", queue, "-f", "-", "--raw-lines", stdin="one\nfour\n"), "line 2: the body has 4 bytes")
    assert bodies(dsn) == ["one"]


def test_what_browse_and_receive_print_can_be_sent_again(dsn: str, queue: str, db: Db) -> None:
    howdah(dsn, "queue", "create", "copy")
    db.execute("select howdah.send('q', '\\x00ff'::bytea), howdah.send('q', '\"text\"'::jsonb)")
    db.execute("select howdah.send('q', '{\"n\": 1234567890.12345}'::jsonb, headers => '{\"a\": 1}')")
    howdah(dsn, "send", queue, "plain\nwith lines", "-p", 2, "--reply-to", "r")

    copied = howdah(dsn, "send", "copy", "-f", "-", stdin=howdah(dsn, "receive", queue, "-n", 10, "--json").out)

    assert copied.out == "4 messages sent to copy\n"
    assert one(db, "select bytes from howdah.browse('copy') limit 1") == b"\x00\xff"
    assert column(db, "select body from howdah.browse('copy') offset 1") == [
        '"text"',
        '{"n": 1234567890.12345}',
        "plain\nwith lines",
    ]
    assert howdah(dsn, "browse", "copy", "--json").json_lines[3]["reply_to"] == "r"
