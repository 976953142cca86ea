"""howdah listener: every command, its --json, and what it refuses."""

import pytest
from command import howdah, refused
from support import Db, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")


def test_create_list_show_alter_drop(dsn: str) -> None:
    created = howdah(dsn, "listener", "create", "l", "orders", "-o", "sequential_failures=9")
    assert created.out == "listener l created\n"
    assert howdah(dsn, "listener", "create", "m", "orders", "-o", "stop_on_failure=false", "--json").json == {
        "listener": "m",
        "queue": "orders",
        "warning": None,
    }
    listed = {row["listener_name"]: row for row in howdah(dsn, "listener", "list", "--json").json}
    assert (listed["l"]["sequential_failures"], listed["m"]["stop_on_failure"]) == (9, False)
    assert "orders" in howdah(dsn, "listener", "list").out
    assert howdah(dsn, "listener", "alter", "l", "-o", "max_sessions=2").out == "listener l altered: max_sessions\n"
    assert howdah(dsn, "listener", "show", "l", "--json").json["max_sessions"] == 2
    assert "max_sessions         2\n" in howdah(dsn, "listener", "show", "l").out
    assert howdah(dsn, "listener", "drop", "l", "--yes").out == "listener l dropped\n"
    assert [row["listener_name"] for row in howdah(dsn, "listener", "list", "--json").json] == ["m"]


def test_stop_and_resume_say_what_was(dsn: str) -> None:
    howdah(dsn, "listener", "create", "l", "orders")
    assert howdah(dsn, "listener", "stop", "l", "--reason", "upgrade").out == "listener l stopped\n"
    shown = howdah(dsn, "listener", "show", "l", "--json").json
    assert (shown["status"], shown["stop_reason"]) == ("stopped", "upgrade")
    assert howdah(dsn, "listener", "stop", "l", "--json").json == {"listener": "l", "stopped": False}
    assert howdah(dsn, "listener", "resume", "l").out == "listener l resumed\n"
    assert howdah(dsn, "listener", "resume", "l").out == "listener l was running already\n"


@pytest.mark.behaviour("WAS-35")
def test_a_contradiction_is_warned_of(dsn: str) -> None:
    assert "; warning: listener l stops at failure 1" in howdah(dsn, "listener", "create", "l", "orders").out
    altered = howdah(dsn, "listener", "alter", "l", "-o", "sequential_failures=6", "--json").json
    assert altered["warning"] is None
    assert "stops at failure 2" in howdah(dsn, "listener", "alter", "l", "-o", "sequential_failures=2").out
    assert "stops at failure 2" in howdah(dsn, "listener", "show", "l").out


def test_what_is_refused(dsn: str) -> None:
    assert howdah(dsn, "listener", "list").out == "no listeners\n"
    for words in (("show",), ("stop",), ("resume",), ("drop", "--yes"), ("alter", "-o", "max_sessions=1")):
        refused(howdah(dsn, "listener", words[0], "x", *words[1:]), "there is no listener 'x'")
    refused(howdah(dsn, "listener", "create", "l", "nowhere"), "there is no queue 'nowhere'")
    refused(howdah(dsn, "listener", "create", "l", "orders", "-o", "colour=red"), "Options are: max_sessions,")
    howdah(dsn, "listener", "create", "l", "orders")
    refused(howdah(dsn, "listener", "create", "l", "orders"), "exists already")
    refused(howdah(dsn, "listener", "drop", "l"), "needs confirmation")
    assert howdah(dsn, "listener", "alter", "l").code == 2
