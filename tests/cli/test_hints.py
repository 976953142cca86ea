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
    *("ack", "begin_attempts", "begin_copy", "close_connection", "drop_temporary_queue", "due_schedules"),
    *("hold_audit", "journal_offset", "link_take", "list_consumers", "list_leases", "next_journal_offset"),
    *("open_consumer", "list_imported", "xa_begin", "xa_decide", "instance_heartbeat"),
    *("rebase_topics", "receive_attempt", "receive_locked", "release_client_id", "selector_matches", "send_copied"),
    *("browse_kept", "drop_transformation", "list_transformations", "register_transformation"),
    *("audit_locks", "destination_grants", "message"),  # two views and a type
}


def hinted() -> set[str]:
    """What hints of the procedures name of Howdah's: functions with parentheses or without, and views."""
    hints = re.findall(r"hint\s*=\s*((?:[^;]|'[^']*')*?);", "".join(map(sql.source, sql.FILES)))
    return {name for hint in hints for name in re.findall(r"howdah\.([a-z]\w*)", hint)}


def test_every_function_that_a_hint_names_has_a_command_or_needs_none() -> None:
    assert hinted() - COMMANDS.keys() - NO_COMMAND == set()


@pytest.mark.parametrize("said", sorted(COMMANDS.values()))
def test_the_commands_of_hints_exist(said: str) -> None:
    command: Any = _command()
    words = said.split()[1:]
    while words and hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("-")} <= options
    required = [
        parameter for parameter in command.params if parameter.required and not parameter.opts[0].startswith("-")
    ]
    assert len(required) <= len(words)


def test_a_function_is_said_as_a_command_with_its_parentheses_or_without() -> None:
    assert in_commands("See howdah.drop_topic and howdah.unsubscribe(subscription).") == (
        "See howdah topic drop TOPIC and howdah subscription drop SUBSCRIPTION."
    )
    assert in_commands("howdah.list_queues, howdah.list_queues_of") == "howdah queue list, howdah.list_queues_of"
    assert in_commands("howdah.retry(q, (1))") == "howdah.retry(q, (1))", "half of its arguments would stay"


def test_an_error_of_a_command_names_commands(dsn: str, db: Db) -> None:
    missing = howdah(dsn, "send", "nowhere", "x")
    refused(missing, "Create it with howdah queue create QUEUE, or see howdah queue list.")
    howdah(dsn, "queue", "create", "q")
    howdah(dsn, "queue", "pause", "q")
    refused(howdah(dsn, "send", "q", "x"), "resumes it with howdah queue resume QUEUE.")
    refused(howdah(dsn, "send", "-f", "-", "q", stdin='{"body": "x"}'), "howdah queue resume QUEUE")
    refused(howdah(dsn, "poison", "discard", "--id", 1), "See howdah browse QUEUE")
    howdah(dsn, "topic", "create", "t")
    refused(howdah(dsn, "queue", "alter", "t", "-o", "max_message_bytes=9"), "See howdah topic alter TOPIC -o")


def test_what_no_command_does_is_named_as_it_is() -> None:
    assert in_commands("Call howdah.rebase_topics() once; howdah.list_queues().") == (
        "Call howdah.rebase_topics() once; howdah queue list."
    )
    assert in_commands("howdah.resume(subscription)") == "howdah subscription resume SUBSCRIPTION"


@pytest.mark.parametrize("flag", ["again", "force", "replace", "shared"])
def test_an_argument_is_said_as_the_option_that_some_command_has(flag: str) -> None:
    assert in_commands(f"Drop it with {flag} => true.") == f"Drop it with --{flag}."
    commands = [vars(_command())["commands"]]
    options = set()
    while commands:
        for command in commands.pop().values():
            commands.append(getattr(command, "commands", {}))
            options |= {name for parameter in command.params for name in parameter.opts}
    assert f"--{flag}" in options


def test_a_refused_drop_names_the_option_that_forces_it(dsn: str) -> None:
    howdah(dsn, "queue", "create", "q")
    howdah(dsn, "send", "q", "x")
    refused(howdah(dsn, "queue", "drop", "q", "--yes"), "drop it with --force")
