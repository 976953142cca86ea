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
from support import Db, one

pytest.importorskip("starlette")
from starlette.testclient import TestClient


@pytest.mark.slow
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
        (("--root-path", "queues"), "a prefix is a path, such as /queues"),
        (("--root-path", "/a/../b"), "a prefix is a path"),
        (("--root-path", "/a?b"), "a prefix has only characters that a path has"),
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


@pytest.mark.first_case
@pytest.mark.parametrize("cut", [False, True], ids=["whole path", "prefix cut off"])
@pytest.mark.parametrize("given", ["/ops/queues", "/ops/"])
def test_under_a_prefix_of_a_proxy_links_forms_and_the_stream_work(
    dsn: str, db: Db, monkeypatch: pytest.MonkeyPatch, cut: bool, given: str
) -> None:
    one(db, "select howdah.create_queue('orders')")
    started: list[Any] = []
    monkeypatch.setattr("uvicorn.run", lambda application, **_: started.append(application))
    assert howdah(dsn, "console", "--root-path", given).code == 0
    prefix = given.rstrip("/")
    with TestClient(started[0], "http://localhost", client=("127.0.0.1", 1), follow_redirects=False) as browser:
        cookie: dict[str, str] = {}

        def get(address: str) -> httpx.Response:
            """As the browser asks, by way of the proxy."""
            assert address.startswith(prefix + "/")
            answer: httpx.Response = browser.get(address.removeprefix(prefix) if cut else address, headers=cookie)
            if "set-cookie" in answer.headers:
                assert f"path={prefix};" in answer.headers["set-cookie"].lower() + ";"
                cookie["cookie"] = answer.headers["set-cookie"].partition(";")[0]
            return answer

        for path in ("/", "/queues", "/queue?name=orders", "/act?act=pause&queue=orders"):
            page = get(prefix + path)
            assert page.status_code == 200
            links = re.findall(r'(?:src|href|action|data-live)="(/[^"]*)"', page.text)
            assert len(links) > 10
            for link in links:
                assert link.startswith(prefix + "/"), link
        assert get(f"{prefix}/static/console.js").headers["content-type"].startswith("text/javascript")
        found = get(f"{prefix}/search?q=orders")
        assert (found.status_code, found.headers["location"]) == (303, f"{prefix}/queue?name=orders")
        (token,) = re.findall(r'name="token" value="(\w+)"', page.text)
        act = "/act" if cut else f"{prefix}/act"
        fields = {"act": "pause", "queue": "orders", "reason": "r", "token": token}
        assert browser.post(act, data=fields, headers=cookie).status_code == 200
    assert one(db, "select sending_paused from howdah.list_queues() where queue = 'orders'")
