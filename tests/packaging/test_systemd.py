"""The units of the deployment guide, run by a real systemd."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import service_manager
from pages import parts
from service_manager import ServiceManager
from support import Db, one, wait_until

PARTS = parts("docs/guides/deployment.md")
FILES = {part.title: part.text for part in PARTS if part.title}
RELOAD, ENABLE, STOP = next(part.text for part in PARTS if part.text.startswith("systemctl daemon-reload")).splitlines()
SERVICE = ENABLE.split()[-1]
LACKING = service_manager.lacking()

pytestmark = [pytest.mark.slow, pytest.mark.skipif(LACKING is not None, reason=str(LACKING))]


@pytest.fixture
def host(dsn: str, db: Db, tmp_path: Path) -> Iterator[ServiceManager]:
    """The reader's machine: the units, the application, its settings, its queue, and the user shop.

    The user is root by another name, because nobody else may enter the folder of the tests' Python.
    """
    one(db, "select howdah.create_queue('orders')")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "howdah.env").write_text(f'HOWDAH_DSN="{dsn}"\nPYTHONPATH="{os.environ.get("PYTHONPATH", "")}"\n')
    with service_manager.service_manager(tmp_path) as started:
        started.run(
            f"cd {tmp_path}; mkdir /etc/shop /opt/shop; cp *.service /etc/systemd/system; cp howdah.env /etc/shop;"
            f" cp shop.py /opt/shop; ln -s {Path(sys.executable).parent} /opt/shop/bin;"
            " echo shop:x:0:0::/:/bin/sh >>/etc/passwd"
        )
        started.run(RELOAD)
        yield started


def begin(host: ServiceManager, db: Db, seconds: float) -> None:
    """Send an order that takes so long, and wait until its handler runs."""
    host.run("rm -f /opt/shop/begun")
    one(db, "select howdah.send('orders', jsonb_build_object('seconds', %s::float))", [seconds])
    wait_until(lambda: host.run("ls /opt/shop/begun || true") == "/opt/shop/begun", 60)


def shown(host: ServiceManager, name: str) -> str:
    return host.run(f"systemctl show --property={name} --value {SERVICE}")


def consumed(db: Db) -> int:
    count: int = one(db, "select consumed from howdah.queue_stats('orders')")
    return count


def test_a_stop_waits_for_the_message_in_hand(host: ServiceManager, db: Db) -> None:
    host.run(ENABLE)
    begin(host, db, 2)

    host.run(STOP)

    assert (shown(host, "ActiveState"), shown(host, "Result"), shown(host, "ExecMainStatus")) == (
        "inactive",
        "success",
        "0",
    )
    assert (one(db, "select live from howdah.queue_stats('orders')"), consumed(db)) == (0, 1)
    assert one(db, "select count(*) from howdah.poison_details") == 0


def test_a_killed_supervisor_is_started_again_and_its_message_is_handled(host: ServiceManager, db: Db) -> None:
    host.run(ENABLE)
    begin(host, db, 2)

    host.run(f"systemctl kill --kill-who=main --signal=KILL {SERVICE}")

    wait_until(lambda: shown(host, "NRestarts") == "1" and shown(host, "ActiveState") == "active", 60)
    begin(host, db, 0)
    wait_until(lambda: consumed(db) == 2, 60)


def test_the_scheduler_runs_and_stops(host: ServiceManager) -> None:
    host.run("systemctl start howdah-scheduler.service")
    wait_until(lambda: "running" in host.run("systemctl show --property=SubState howdah-scheduler.service"), 30)

    host.run("systemctl stop howdah-scheduler.service")

    assert host.run("systemctl show --property=Result --value howdah-scheduler.service") == "success"
