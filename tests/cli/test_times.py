"""Lengths of time: every command takes them in the same forms."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import typer
from command import howdah, refused
from support import Db, one

from howdah.cli.main import _command
from howdah.cli.times import duration, moment

FORMS = {
    "0": 0, "90": 90, "1.5": 1.5, "90s": 90, "500ms": 0.5, "30m": 1800, "30min": 1800, "12h": 43200, "1.5h": 5400,
    "7d": 604800, "2w": 1209600, " 5 m ": 300,
}  # fmt: skip


def options(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every option of every command."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, (*words, name))
    for option in command.params:
        yield words, option


@pytest.mark.parametrize(("word", "seconds"), FORMS.items())
def test_every_form_of_a_length_means_its_seconds(word: str, seconds: float) -> None:
    assert duration(word) == seconds


@pytest.mark.parametrize(
    "word", ["", "-1", "m", "5 minutes", "nan", "inf", "1e3", "5M", "yesterday", "101w1d", "9999999w"]
)
def test_what_is_no_length_is_refused(word: str) -> None:
    with pytest.raises(typer.BadParameter):
        duration(word)


def test_every_option_that_is_a_length_of_time_is_made_by_the_one_parser() -> None:
    lengths = {(*words, option.opts[0]) for words, option in options(_command()) if option.metavar == "DURATION"}
    assert lengths >= {
        ("send", "--ttl"), ("send", "--delay"), ("receive", "--wait"), ("schedule", "add", "--every"),
        ("schedule", "add", "--delay"), ("audit", "--every"), ("audit", "--bucket"), ("worker", "--time-limit"),
        ("poison", "causes", "--since"), ("poison", "park", "--for"), ("poison", "list", "--older-than"),
        ("poison", "replay", "--newer-than"), ("poison", "move", "--older-than"), ("poison", "discard", "--older-than"),
    }  # fmt: skip
    for words, option in options(_command()):
        assert option.metavar != "SECONDS", (words, option.opts)


def test_a_delay_of_minutes_is_taken_by_every_command_that_delays(dsn: str, db: Db) -> None:
    howdah(dsn, "queue", "create", "q")
    assert howdah(dsn, "send", "q", "x", "--delay", "5m", "--ttl", "2h").code == 0
    (waiting,) = db.execute("select due_at - sent_at, expires_at - sent_at from howdah.list_delayed('q')").fetchall()
    assert waiting == (timedelta(minutes=5), timedelta(hours=2))
    assert howdah(dsn, "schedule", "add", "q", "x", "--every", "1h", "--delay", "10m").code == 0
    assert one(db, "select period from howdah.list_schedules('q')") == timedelta(hours=1)
    assert howdah(dsn, "receive", "q", "--wait", "10ms").code == 0
    refused(howdah(dsn, "send", "q", "x", "--delay", "soon"), "is not a duration: use 90 (seconds)", code=2)
    refused(howdah(dsn, "audit", "--every", "0.5"), "less than a second", code=2)


def test_a_point_of_time_may_be_a_date_or_any_length_ago() -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    for word, seconds in FORMS.items():
        if word.strip() != "1.5":
            assert moment(word, lambda: now, "--since") == now - timedelta(seconds=seconds)
    assert moment("2026-04-30T00:00+00:00", lambda: now, "--since") == now - timedelta(days=1)
    assert moment("20260430T000000Z", lambda: now, "--since") == now - timedelta(days=1)
