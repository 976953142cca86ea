"""howdah service: which services there are, and commands that connect with one."""

from __future__ import annotations

import pytest
from command import howdah, refused


def test_services_are_listed_changed_and_switched(dsn: str) -> None:
    shown = howdah(dsn, "service", "list").out
    assert "not available" in shown
    assert howdah(dsn, "service", "alter", "jms", "-o", "max_connections=20", "-o", 'roles=["howdah_admin"]').code == 0
    assert howdah(dsn, "service", "deactivate", "jms", "--json").json == {"service": "jms", "active": False}
    rows = {row["service"]: row for row in howdah(dsn, "service", "list", "--json").json}
    assert (rows["jms"]["max_connections"], rows["jms"]["roles"], rows["jms"]["active"]) == (
        20,
        ["howdah_admin"],
        False,
    )
    assert howdah(dsn, "service", "activate", "jms").out == "service jms active\n"
    refused(howdah(dsn, "service", "activate", "httpjms"), "not available")
    assert "monitor_limit" in howdah(dsn, "service", "alter", "jms", "-o", "colour=red").err
    assert howdah(dsn, "service", "alter", "jms").code == 2


def test_a_command_connects_with_the_service_that_it_names(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert howdah(dsn, "--service", "admin", "queue", "create", "orders").code == 0
    assert howdah(dsn, "--service", "jms", "send", "orders", "x").code == 0
    refused(howdah(dsn, "--service", "jms", "queue", "drop", "orders", "--yes"), "is not for administration")
    monkeypatch.setenv("HOWDAH_SERVICE", "jms")
    refused(howdah(dsn, "queue", "drop", "orders", "--yes"), "is not for administration")
    assert howdah(dsn, "--service", "admin", "service", "alter", "jms", "-o", "model=dedicated").code == 0
    assert howdah(dsn, "receive", "orders").code == 0
