"""howdah console: who may listen where, and a console that really answers."""

import re
import signal
import subprocess
import sys
from typing import Any

import httpx
import pytest
from command import howdah, refused
from psycopg.conninfo import conninfo_to_dict, make_conninfo

pytest.importorskip("starlette")
from starlette.testclient import TestClient


def test_the_console_answers_on_this_machine_and_ends_at_a_signal(dsn: str) -> None:
    database = str(conninfo_to_dict(dsn)["dbname"])
    command = [sys.executable, "-m", "howdah.cli.main", "console", "--port", "0"]
    command += ["--dsn", make_conninfo(dsn, dbname="postgres"), "--database", database]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                    break
            assert found, said
            assert any("listens on this machine alone" in line for line in said)
            address = f"http://127.0.0.1:{found[1]}"
            assert httpx.get(f"{address}/healthz").text == "ok\n"
            page = httpx.get(address)
            assert (page.status_code, "<h1>Overview</h1>" in page.text) == (200, True)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert process.returncode in (0, 130)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--host", "0.0.0.0"), "without --auth it listens on this machine alone"),
        (("--auth", "proxy"), "say which addresses are trusted"),
        (("--auth", "proxy", "--trust", "everybody"), "'everybody' does not appear to be"),
        (("--auth", "proxy", "--trust", "10.0.0.5/32"), "say in which role live figures and checks are read"),
        (("--auth", "proxy", "--trust", "10.0.0.5/32", "--live-role", ""), "say in which role"),
        (("--trace-url", "javascript:alert({trace_id})"), "a trace's address begins with http"),
        (("--trace-url", "https://traces.example/"), "holds {trace_id}"),
        (("--auth", "basic", "--trust", "10.0.0.5/32"), "it belongs to --auth proxy"),
    ],
)
def test_who_may_look_is_settled_before_it_listens(dsn: str, words: tuple[str, ...], why: str) -> None:
    refused(howdah(dsn, "console", *words), why, 2)


@pytest.mark.parametrize(("words", "marked"), [((), False), (("--secure",), True)])
def test_with_secure_its_cookie_is_for_https_alone(
    dsn: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], marked: bool
) -> None:
    started: list[Any] = []
    monkeypatch.setattr("uvicorn.run", lambda application, **_: started.append(application))
    assert howdah(dsn, "console", *words).code == 0
    with TestClient(started[0], "http://localhost", client=("127.0.0.1", 1)) as browser:
        assert ("secure" in browser.get("/").headers["set-cookie"].lower()) is marked
