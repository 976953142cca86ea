"""The worker's log: texts of others stay on their line and do not steer who reads it."""

import logging

import pytest

from howdah.workers import events
from howdah.workers.log import writer

STEERING = "\x1b[2J\x9b31m\u202eevil\u2069\u200f\r\n2026-01-01 info all is well\u2028\x85\x00"


@pytest.mark.parametrize("as_json", [False, True])
def test_the_text_of_an_exception_cannot_steer_the_terminal(as_json: bool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "howdah.worker"):
        events.failure_recorded("w", "q", 1, 1, "dead", f"ValueError: {STEERING}")
        try:
            raise ValueError(STEERING)
        except ValueError:
            events.log.exception("thread died: %s", STEERING)

    for record in caplog.records:
        line = writer.LineFormatter(as_json).format(record)
        assert not {character for character in line if not character.isprintable()}, line
        assert "evil" in line
