"""howdah object, and commands that connect by an object."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import howdah, refused
from psycopg.conninfo import conninfo_to_dict


@pytest.fixture
def dead_port() -> Iterator[int]:
    """A port of this machine where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


def test_an_object_is_created_shown_listed_set_and_dropped(dsn: str) -> None:
    assert howdah(dsn, "object", "list").out == "no objects\n"
    made = howdah(dsn, "object", "create", "cf/orders", "-a", "hosts=db1,db2:5433", "-a", "priority=7")
    assert made.out == "connection_factory cf/orders created\n"
    howdah(dsn, "object", "create", "q/orders", "--kind", "queue", "-a", "destination=orders", "--read-only")
    shown = howdah(dsn, "object", "show", "cf/orders", "--json").json
    assert shown["attributes"] == {"hosts": ["db1", "db2:5433"], "priority": 7}
    assert "db2:5433" in howdah(dsn, "object", "show", "cf/orders").out
    assert [row["name"] for row in howdah(dsn, "object", "list", "cf/*", "--json").json] == ["cf/orders"]
    changed = howdah(dsn, "object", "set", "cf/orders", "priority=", "client_id=7")
    assert changed.out == "object cf/orders altered: priority, client_id\n"
    shown = howdah(dsn, "object", "show", "cf/orders", "--json").json
    assert shown["attributes"] == {"hosts": ["db1", "db2:5433"], "client_id": "7"}
    refused(howdah(dsn, "object", "set", "q/orders", "destination=others"), "read-only")
    howdah(dsn, "object", "set", "q/orders", "destination=others", "--writable")
    refused(howdah(dsn, "object", "set", "q/orders"), "name at least one", code=2)
    refused(howdah(dsn, "object", "create", "x", "-a", "colour=red"), "no attribute 'colour'")
    refused(howdah(dsn, "object", "create", "x", "-a", "password=red"), "never holds a password")
    refused(howdah(dsn, "object", "show", "nothing"), "no object 'nothing'")
    assert howdah(dsn, "object", "drop", "cf/orders", "--yes").out == "object cf/orders dropped\n"
    assert howdah(dsn, "object", "drop", "cf/orders", "--yes").out == "there was no object cf/orders\n"


def test_objects_are_exported_to_a_file_and_imported(dsn: str, tmp_path: Path) -> None:
    howdah(dsn, "object", "create", "cf/orders", "-a", "priority=7")
    file = tmp_path / "objects.json"
    howdah(dsn, "object", "export", str(file))
    assert json.loads(howdah(dsn, "object", "export").out) == json.loads(file.read_text())
    howdah(dsn, "object", "set", "cf/orders", "priority=8")
    refused(howdah(dsn, "object", "import", str(file)), "another object 'cf/orders'")
    assert howdah(dsn, "object", "import", str(file), "--replace").out == "1 object created or changed\n"
    assert howdah(dsn, "object", "show", "cf/orders", "--json").json["attributes"] == {"priority": 7}
    file.write_text("{")
    refused(howdah(dsn, "object", "import", str(file)), "no JSON", code=2)


@pytest.mark.behaviour("IMQ-138")
def test_commands_connect_by_a_factory_and_its_overrides(dsn: str, dead_port: int) -> None:
    here = conninfo_to_dict(dsn)
    howdah(dsn, "queue", "create", "orders")
    howdah(dsn, "object", "create", "q/orders", "--kind", "queue", "-a", "destination=orders")
    where = f"hosts=127.0.0.1:{dead_port}"
    howdah(dsn, "object", "create", "cf", "-a", where, "-a", "priority=7", "-a", "predefined_only=true")
    refused(howdah(dsn, "send", "q/orders", "x", "--factory", "cf"), "cannot connect", code=3)
    host = f"hosts={here['host']}:{here['port']}"
    assert howdah(dsn, "send", "q/orders", "x", "--factory", "cf", "-D", host, "-D", "jmsx_user_id=true").code == 0
    refused(howdah(dsn, "send", "orders", "x", "--factory", "cf", "-D", host), "looked up")
    (seen,) = howdah(dsn, "browse", "q/orders", "--factory", "cf", "-D", host, "--json").json_lines
    assert (seen["priority"], [*seen["headers"]]) == (7, ["JMSXUserID"])
    (got,) = howdah(dsn, "receive", "q/orders", "--factory", "cf", "-D", host, "--json").json_lines
    assert got["body"] == "x"
    refused(howdah(dsn, "send", "orders", "x", "-D", host), "--factory", code=2)
    refused(howdah(dsn, "send", "orders", "x", "--factory", "q/orders"), "no connection factory")
    howdah(dsn, "object", "set", "cf", "--read-only")
    refused(howdah(dsn, "send", "q/orders", "x", "--factory", "cf", "-D", host), "cannot connect", code=3)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    file = tmp_path / "lines"
    file.write_text("a\nb\n")
    return file


def test_a_file_is_sent_by_a_factory(dsn: str, lines: Path) -> None:
    howdah(dsn, "queue", "create", "orders")
    howdah(dsn, "object", "create", "cf", "-a", "priority=7")
    howdah(dsn, "send", "orders", "--file", str(lines), "--raw-lines", "--factory", "cf", "-D", "priority=8")
    got = howdah(dsn, "receive", "orders", "-n", "9", "--json").json_lines
    assert [(message["body"], message["priority"]) for message in got] == [("a", 8), ("b", 8)]
