"""howdah alias and howdah send --reliability."""

from __future__ import annotations

import pytest
from command import howdah, refused

from howdah.engine.calls.levels import LEVELS


def test_create_list_alter_drop_an_alias(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    assert howdah(dsn, "alias", "list").out == "no aliases\n"
    made = howdah(dsn, "alias", "create", "cheap", "orders", "-o", "default_reliability=EXPRESS_NONPERSISTENT")
    assert made.out == "alias cheap of orders created\n"
    assert "cheap" in howdah(dsn, "alias", "list").out
    howdah(dsn, "send", "cheap", "x")
    (message,) = howdah(dsn, "receive", "cheap", "--json").json_lines
    assert (message["queue"], message["reliability"]) == ("orders", "EXPRESS_NONPERSISTENT")
    howdah(dsn, "queue", "create", "others")
    altered = howdah(dsn, "alias", "alter", "cheap", "--target", "others", "-o", "default_reliability=null")
    assert altered.out == "alias cheap altered: default_reliability, target\n"
    (row,) = howdah(dsn, "alias", "list", "--json").json
    assert (row["target"], row["default_reliability"]) == ("others", None)
    assert howdah(dsn, "alias", "drop", "cheap", "--yes").out == "alias cheap dropped\n"
    assert howdah(dsn, "alias", "drop", "cheap", "--yes").out == "there was no alias cheap\n"


def test_what_an_alias_cannot_be_is_refused(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    refused(howdah(dsn, "alias", "create", "orders", "orders"), "exists already")
    refused(howdah(dsn, "alias", "create", "cheap", "nowhere"), "no queue 'nowhere'")
    refused(howdah(dsn, "alias", "create", "cheap", "orders", "-o", "persistent=false"), "no option")
    refused(howdah(dsn, "alias", "alter", "cheap", "-o", "max_reliability=null"), "no alias 'cheap'")
    refused(howdah(dsn, "alias", "alter", "cheap"), "name at least one", code=2)


@pytest.mark.first_case
@pytest.mark.parametrize("level", LEVELS)
def test_a_message_is_sent_with_a_level(dsn: str, level: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    assert howdah(dsn, "send", "orders", "x", "--reliability", level).code == 0
    (message,) = howdah(dsn, "browse", "orders", "--json").json_lines
    assert message["reliability"] == level
    refused(howdah(dsn, "send", "orders", "x", "--reliability", "fast"), "level of reliability 'fast'")
