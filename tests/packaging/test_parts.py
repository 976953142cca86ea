"""The parts of the product: server, client, administered objects, administration; each by itself, and together."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points

import psycopg
import pytest
from command import howdah

from howdah.engine import connect, lookup
from howdah.migrations import migrate

PARTS = {
    "server": ["howdah.schema", "howdah.procedures", "howdah.migrations"],
    "client": ["howdah.engine", "howdah.engine.aio"],
    "objects": ["howdah.engine.objects"],
    "workers": ["howdah.workers"],
    "monitoring": ["howdah.telemetry.health"],
    "console": ["howdah.console"],
    "administration": ["howdah.cli.main"],
}


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-01")
@pytest.mark.parametrize("part", PARTS)
def test_each_part_is_a_package_that_can_be_used_alone(part: str) -> None:
    program = "\n".join(f"import {package}" for package in PARTS[part])
    subprocess.run([sys.executable, "-c", program], env=os.environ, check=True)


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-01")
def test_server_client_objects_and_administration_work_together(empty_dsn: str) -> None:
    migrate(empty_dsn)  # the server
    with psycopg.connect(empty_dsn, autocommit=True) as db:
        db.execute("select howdah.create_queue('orders')")
        db.execute("select howdah.send('orders', 'from SQL')")
    (command,) = entry_points(group="console_scripts", name="howdah")  # administration
    assert command.value == "howdah.cli.main:main"
    assert howdah(empty_dsn, "send", "orders", "from the command").code == 0
    assert howdah(empty_dsn, "object", "create", "cf/orders", "-a", "priority=9").code == 0
    with lookup(empty_dsn, "cf/orders").create_connection() as connection:  # an administered object
        connection.send("orders", "from the object")
    with connect(empty_dsn) as connection, connection.session() as session:  # the client
        bodies = [message.body for message in session.receive("orders", 9)]
        session.commit()
    assert bodies == ["from the object", "from SQL", "from the command"]
