"""A link finds its target by a variable or a service, and waits while it is away, full or halted."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from forwarding_support import forwarding
from links_support import VARIABLE, bodies, create
from psycopg.conninfo import conninfo_to_dict
from support import Db, column, one, wait_until

from howdah.engine.calls.links import Taken
from howdah.workers.links import target


def test_a_link_waits_for_a_target_that_is_away(dsn: str, a: Db, b: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and goes on by itself."""
    create(a, retry_ms_max=50)
    there = b.info.dsn
    monkeypatch.setenv(VARIABLE, "host=127.0.0.1 port=1 user=u password=secret dbname=d")
    a.execute("select howdah.send('out', 'one')")
    with forwarding(dsn) as forwarder:
        wait_until(lambda: one(a, "select state from howdah.list_links()") == "away")
        error = one(a, "select last_error from howdah.list_links()")
        assert VARIABLE in error
        assert "secret" not in error
        monkeypatch.undo()
        monkeypatch.setenv(VARIABLE, f"{there} password={b.info.password}")
        wait_until(lambda: bodies(b) == ["one"])
        wait_until(lambda: forwarder.forwarded == 1)
    assert one(a, "select away_since from howdah.list_links()") is None


def test_a_target_that_is_back_is_not_away_though_nothing_is_to_be_forwarded(
    dsn: str, a: Db, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody need send for the link's state to be true."""
    create(a, retry_ms_max=50)
    monkeypatch.setenv(VARIABLE, "host=127.0.0.1 port=1")
    with forwarding(dsn):
        wait_until(lambda: one(a, "select state from howdah.list_links()") == "away")
        monkeypatch.setenv(VARIABLE, other)
        wait_until(lambda: one(a, "select state from howdah.list_links()") == "running")


@pytest.mark.first_case
@pytest.mark.parametrize("value", [None, "host=x password:secret", "postgresql://u:secret@h:x/d"])
def test_a_dsn_that_cannot_be_read_is_never_shown(
    dsn: str, a: Db, b: Db, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    """Nor is a variable that is missing anything but named."""
    create(a)
    if value is None:
        monkeypatch.delenv(VARIABLE)
    else:
        monkeypatch.setenv(VARIABLE, value)
    with forwarding(dsn):
        wait_until(lambda: one(a, "select last_error from howdah.list_links()"))
    error = one(a, "select last_error from howdah.list_links()")
    assert VARIABLE in error
    assert "secret" not in error


def test_a_service_of_a_file_leads_there(
    dsn: str, a: Db, b: Db, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: str
) -> None:
    """As libpq reads pg_service.conf."""
    lines = [f"{key}={value}" for key, value in conninfo_to_dict(other).items()]
    (tmp_path / "services").write_text("\n".join(["[vienna]", *lines, ""]))
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    create(a, service="vienna", dsn_env=None)
    a.execute("select howdah.send('out', 'one')")
    with forwarding(dsn):
        wait_until(lambda: bodies(b) == ["one"])


def test_a_full_target_is_waited_for(dsn: str, a: Db, b: Db) -> None:
    """It gets as many as it has room for, and no message fails."""
    create(a, retry_ms_max=20)
    b.execute("select howdah.alter_queue('in', '{\"message_limit\": 3}')")
    for n in range(6):
        a.execute("select howdah.send('out', %s)", (str(n),))
    with forwarding(dsn):
        wait_until(lambda: len(bodies(b)) == 3)
        wait_until(lambda: one(a, "select state from howdah.list_links()") == "away")
        taken = column(b, "select body from howdah.receive('in', 3)")
        wait_until(lambda: len(bodies(b)) == 3)
    assert taken + bodies(b) == [str(n) for n in range(6)]
    assert column(a, "select sqlstate from howdah.incidents('out')") == []


@pytest.mark.first_case
@pytest.mark.parametrize("halted", ["source", "target"])
def test_a_halted_engine_blames_no_message(dsn: str, a: Db, b: Db, halted: str) -> None:
    """On either side, the link waits until the engine is resumed."""
    create(a, retry_ms_max=50)
    a.execute("select howdah.send('out', 'one')")
    db = a if halted == "source" else b
    db.execute("select howdah.pause_engine()")
    with forwarding(dsn):
        wait_until(lambda: one(a, "select last_error from howdah.list_links()"))
        assert one(a, "select state from howdah.list_links()") == "away"
        db.execute("select howdah.resume_engine()")
        wait_until(lambda: bodies(b) == ["one"])
    assert column(a, "select sqlstate from howdah.incidents('out')") == []


BY_SERVICE = Taken(
    state="ready",
    link_id=None,
    engine_id=None,
    engine_name=None,
    source=None,
    target_queue=None,
    batch=None,
    attempt=None,
    acknowledged=None,
    taken=None,
    messages=None,
    service="vienna",
    dsn_env=None,
    retry_ms_max=None,
    started=None,
)


@pytest.mark.parametrize(("said", "kept"), [([], 10), (["keepalives_idle=77"], 77)])
def test_a_link_by_a_service_notices_a_server_that_is_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: str, said: list[str], kept: int
) -> None:
    """TCP keeps it alive, by what the service says or else by our own numbers."""
    lines = [f"{key}={value}" for key, value in conninfo_to_dict(other).items()]
    (tmp_path / "services").write_text("\n".join(["[vienna]", *lines, *said, ""]))
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    with (
        target.connect("to_b", BY_SERVICE) as connection,
        socket.socket(fileno=os.dup(connection.fileno())) as sock,
    ):
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        numbers = [sock.getsockopt(socket.IPPROTO_TCP, option) for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPCNT)]
        assert numbers == [kept, 3]
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30000
