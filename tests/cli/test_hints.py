"""Hints of the database, as commands say them."""

import re
from typing import Any

import pytest
from command import howdah, refused
from support import Db

import howdah.procedures as sql
from howdah.cli.hints import COMMANDS, in_commands
from howdah.cli.main import _command

# What only a program calls, or one who is neither at a command nor needs one.
NO_COMMAND = {
    "due_schedules",
    *(
        "ack",
        "begin_attempts",
        "begin_copy",
        "close_connection",
        "drop_temporary_queue",
        "hold_audit",
        "list_consumers",
    ),
    *("open_consumer", "rebase_topics", "receive_attempt", "release_client_id", "selector_matches", "send_copied"),
}


def hinted() -> set[str]:
    """The functions that hints of the procedures name."""
    hints = re.findall(r"hint\s*=\s*((?:[^;]|'[^']*')*?);", "".join(map(sql.source, sql.FILES)))
    return {name for hint in hints for name in re.findall(r"howdah\.([a-z]\w*)\(", hint) if not name.startswith("_")}


def test_every_function_that_a_hint_names_has_a_command_or_needs_none() -> None:
    assert hinted() - COMMANDS.keys() - NO_COMMAND == set()


@pytest.mark.parametrize("said", sorted(COMMANDS.values()))
def test_the_commands_of_hints_exist(said: str) -> None:
    command: Any = _command()
    words = said.split()[1:]
    while words and hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options
    required = [
        parameter for parameter in command.params if parameter.required and not parameter.opts[0].startswith("-")
    ]
    assert len(required) <= len(words)


def test_an_error_of_a_command_names_commands(dsn: str, db: Db) -> None:
    missing = howdah(dsn, "send", "nowhere", "x")
    refused(missing, "Create it with howdah queue create QUEUE, or see howdah queue list.")
    howdah(dsn, "queue", "create", "q")
    howdah(dsn, "queue", "pause", "q")
    refused(howdah(dsn, "send", "q", "x"), "resumes it with howdah queue resume QUEUE.")
    refused(howdah(dsn, "send", "-f", "-", "q", stdin='{"body": "x"}'), "howdah queue resume QUEUE")
    refused(howdah(dsn, "poison", "discard", "--id", 1), "See howdah browse QUEUE")


def test_what_no_command_does_is_named_as_it_is() -> None:
    assert in_commands("Call howdah.rebase_topics() once; howdah.list_queues().") == (
        "Call howdah.rebase_topics() once; howdah queue list."
    )
    assert in_commands("howdah.resume(subscription)") == "howdah subscription resume SUBSCRIPTION"
