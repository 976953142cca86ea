"""howdah poison edit: a corrected copy is sent, and nothing without a change."""

from pathlib import Path
from unittest import mock

import pytest
from command import howdah, refused
from poison_support import three_dead
from support import Db, one


@pytest.fixture
def dead(dsn: str, db: Db) -> list[int]:
    """Two dead messages of queue a and one of queue b."""
    return three_dead(dsn, db)


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
