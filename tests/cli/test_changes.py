"""howdah changes, instance and cluster: what was changed, who serves the database, and who may change it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import howdah, refused
from support import Db, one


def test_changes_are_listed_shown_and_taken_back(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    howdah(dsn, "queue", "alter", "orders", "-o", "default_priority=7")
    rows = howdah(dsn, "changes", "list", "--kind", "queue", "--json").json
    assert [(row["act"], row["name"]) for row in rows] == [("altered", "orders"), ("created", "orders")]
    assert "default_priority: 4 → 7" in howdah(dsn, "changes", "list", "--name", "orders").out
    change = rows[0]["change_id"]
    shown = howdah(dsn, "changes", "show", str(change), "--json").json
    assert (shown["before"]["default_priority"], shown["after"]["default_priority"]) == (4, 7)
    undone = howdah(dsn, "changes", "undo", str(change), "--yes", "--json").json
    assert undone["change"] == change
    assert undone["undone_by"] > change
    assert howdah(dsn, "queue", "show", "orders", "--json").json["default_priority"] == 4
    refused(howdah(dsn, "changes", "undo", str(change), "--yes"), "was changed since")
    assert howdah(dsn, "changes", "undo", str(change), "--yes", "--again").out == "nothing had to be changed\n"
    assert howdah(dsn, "changes", "show", "999999").code == 2


@pytest.mark.slow
def test_the_configuration_is_backed_up_wiped_and_restored(dsn: str, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    howdah(dsn, "queue", "create", "orders", "-o", "default_priority=7")
    assert howdah(dsn, "changes", "backup", str(file), "--json").json["lines"] > 4
    howdah(dsn, "queue", "drop", "orders", "--yes")
    howdah(dsn, "queue", "create", "extra")
    assert howdah(dsn, "changes", "restore", str(file), "--yes", "--prune").out == "restored: 2 things changed\n"
    assert howdah(dsn, "queue", "show", "orders", "--json").json["default_priority"] == 7
    assert howdah(dsn, "queue", "show", "extra").code == 1
    lines = howdah(dsn, "changes", "backup", "-").out.splitlines()
    assert json.loads(lines[0])["howdah"] == "changes"
    file.write_text("no backup")
    assert howdah(dsn, "changes", "restore", str(file), "--yes").code == 2
    assert howdah(dsn, "changes", "restore", str(tmp_path / "none"), "--yes").code == 2
    file.write_text('{"a": 1}')
    refused(howdah(dsn, "changes", "restore", str(file), "--yes"), "no backup")


def test_instances_are_listed_quiesced_resumed_and_ended(dsn: str, db: Db) -> None:
    assert howdah(dsn, "instance", "list").out == "no instances\n"
    instance = one(db, "select howdah.register_instance('first', 'host', 1)")
    assert howdah(dsn, "instance", "list", "--json").json[0]["state"] == "INITIALIZING"
    assert "INITIALIZING" in howdah(dsn, "instance", "list").out
    assert howdah(dsn, "instance", "show", "first", "--json").json["host"] == "host"
    assert howdah(dsn, "instance", "quiesce", "first").out == "first quiesced\n"
    assert howdah(dsn, "instance", "quiesce", "first").out == "first was quiesced already\n"
    assert howdah(dsn, "instance", "resume", "first").out == "first resumed\n"
    assert howdah(dsn, "instance", "resume", "first").out == "first was not quiesced\n"
    assert howdah(dsn, "instance", "end", "first").out == "first was told to end\n"
    assert one(db, "select howdah.instance_heartbeat(%s) ->> 'ending'", (instance,)) == "true"
    for command in ("show", "end"):
        assert howdah(dsn, "instance", command, "none").code == 2
    refused(howdah(dsn, "instance", "quiesce", "none"), "there is no instance")


def test_the_cluster_gets_a_master_and_another_one_and_none(dsn: str) -> None:
    assert howdah(dsn, "cluster", "mode", "master", "--master", "first").out == "cluster mode set to master\n"
    shown = howdah(dsn, "cluster", "show", "--json").json
    assert (shown["cluster_mode"], shown["cluster_master"], shown["accepts_changes"]) == ("master", "first", False)
    refused(howdah(dsn, "queue", "create", "orders"), "is away, which is the master of changes")
    assert howdah(dsn, "cluster", "changemaster", "second").out == "second is now the master\n"
    assert howdah(dsn, "cluster", "changemaster", "second").out == "second was already the master\n"
    assert howdah(dsn, "cluster", "mode", "none").out == "cluster mode set to none\n"
    assert howdah(dsn, "cluster", "mode", "none").out == "cluster mode was none\n"
    assert howdah(dsn, "queue", "create", "orders").code == 0
