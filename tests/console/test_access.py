"""Who gets in: the machine itself, HTTP basic, a trusted proxy, a host application; and who does not."""

from __future__ import annotations

import base64

import pytest
from console_people import PASSWORD
from psycopg import sql
from psycopg.conninfo import make_conninfo
from starlette.testclient import TestClient
from support import Db

from howdah.console import Basic, Host, Proxy, app
from howdah.console import attempts as attempts_of
from howdah.console.attempts import Attempts


def basic(user: str, password: str) -> dict[str, str]:
    """The header of HTTP basic."""
    return {"authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def test_without_access_it_answers_its_own_machine_alone_and_says_so(dsn: str, orders: int) -> None:
    console = app(dsn)
    with TestClient(console, "http://localhost", client=("127.0.0.1", 1)) as browser:
        assert "on this machine alone" in browser.get("/").text
    with TestClient(console, "http://localhost", client=("192.0.2.1", 1)) as browser:
        assert browser.get("/").status_code == 403
    with TestClient(console, "http://evil.example", client=("127.0.0.1", 1)) as browser:
        assert browser.get("/").status_code == 403


def test_with_basic_a_person_is_the_databases_user(dsn: str, people: None, orders: int) -> None:
    # The database's address, and nobody's password.
    with TestClient(app(make_conninfo(dsn, user="nobody", password=""), Basic()), follow_redirects=False) as browser:
        unknown = browser.get("/")
        assert unknown.status_code == 401
        assert unknown.headers["www-authenticate"].startswith("Basic")
        assert browser.get("/queues", headers=basic("console_browser", PASSWORD)).status_code == 200
        assert browser.get("/queues", headers=basic("console_nobody", PASSWORD)).status_code == 403
        assert browser.get("/queues", headers=basic("console_browser", "wrong")).status_code == 401
        assert browser.get("/", headers={"authorization": "Basic %%%"}).status_code == 401


def test_failed_log_ins_have_to_wait_and_others_at_the_same_address_do_not(dsn: str, people: None) -> None:
    console = app(dsn, Basic())
    with TestClient(console, client=("192.0.2.1", 1)) as browser:
        for _ in range(10):
            assert browser.get("/", headers=basic("console_browser", "wrong")).status_code == 401
        refused = browser.get("/", headers=basic("console_browser", PASSWORD))
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) > 0
        # As behind a proxy, which has one address for all.
        assert browser.get("/", headers=basic("console_operator", PASSWORD)).status_code == 200
    with TestClient(console, client=("192.0.2.2", 1)) as browser:
        assert browser.get("/", headers=basic("console_browser", PASSWORD)).status_code == 200


def test_an_address_may_try_again_when_its_time_is_up() -> None:
    now = 0.0
    attempts = Attempts(2, 60, lambda: now)
    attempts.failed("a", "ann")
    assert attempts.wait("a", "ann") == 0
    attempts.failed("a", "ann")
    assert attempts.wait("a", "ann") == 60
    assert attempts.wait("a", "bob") == attempts.wait("b", "ann") == 0
    now = 61
    assert attempts.wait("a", "ann") == 0


def test_an_address_that_guesses_under_many_names_has_to_wait_and_who_logged_in_from_there_does_not() -> None:
    attempts = Attempts(2, 60, lambda: 0.0, of_address=5)
    attempts.succeeded("a", "ann")
    for number in range(5):
        assert attempts.wait("a", f"user{number}") == 0
        attempts.failed("a", f"user{number}")
    assert attempts.wait("a", "bob") == 60
    assert attempts.wait("a", "ann") == 0
    for _ in range(2):
        attempts.failed("a", "ann")
    assert attempts.wait("a", "ann") == 60, "the limit of the name holds for all"


def test_names_that_the_database_takes_for_one_are_one() -> None:
    attempts = Attempts(2, 60, lambda: 0.0)
    for end in ("x", "y"):
        attempts.failed("a", "n" * 63 + end)
    assert attempts.wait("a", "n" * 63) == 60


def test_failures_of_many_names_and_addresses_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts_of, "MOST_KEPT", 3)
    attempts = Attempts(1, 60, lambda: 0.0, of_address=1)
    for number in range(9):
        attempts.succeeded(f"a{number}", "ann")
        attempts.failed(f"a{number}", "x" * 100_000)
    for kept in (attempts._names._at, attempts._addresses._at, attempts._known):
        assert next(iter(kept)) in {"a6", ("a6", b"ann"), ("a6", b"x" * 63)}
        assert len(kept) == 3
    assert attempts.wait("a8", "bob") == 60


def test_the_addresses_of_one_ipv6_network_are_one_visitor() -> None:
    attempts = Attempts(most=3, seconds=60)
    for number in range(3):
        attempts.failed(f"2001:db8:0:1::{number}", "ann")
    assert attempts.wait("2001:db8:0:1:ffff::9", "ann") > 0
    assert attempts.wait("2001:db8:0:2::1", "ann") == 0
    for _ in range(3):
        attempts.failed("192.0.2.1", "ann")
    assert attempts.wait("::ffff:192.0.2.1", "ann") > 0
    assert attempts.wait("::ffff:192.0.2.2", "ann") == 0


def test_a_trusted_proxy_names_the_role_and_nobody_else_does(login_dsn: str, orders: int) -> None:
    console = app(login_dsn, Proxy(["192.0.2.0/24"]))
    said = {"x-forwarded-user": "console_browser"}
    with TestClient(console, client=("192.0.2.9", 1)) as browser:
        assert "console_browser" in browser.get("/queues", headers=said).text
        assert browser.get("/queues").status_code == 403
        assert browser.get("/queues", headers={"x-forwarded-user": "no such role"}).status_code == 403
        assert browser.get("/queues", headers={"x-forwarded-user": "none"}).status_code == 403
        twice = [("x-forwarded-user", "console_browser"), ("x-forwarded-user", "console_operator")]
        assert browser.get("/queues", headers=twice).status_code == 403
    with TestClient(console, client=("198.51.100.1", 1)) as browser:
        assert browser.get("/queues", headers=said).status_code == 403


@pytest.mark.parametrize("named", [b"\x1fconsole_operator", b"console_operator\x1c", b"\x0bconsole_operator"])
def test_a_proxys_name_that_is_like_a_roles_is_not_that_role(login_dsn: str, orders: int, named: bytes) -> None:
    console = app(login_dsn, Proxy(["192.0.2.0/24"]))
    with TestClient(console, client=("192.0.2.9", 1)) as browser:
        assert browser.get("/queues", headers=[(b"x-forwarded-user", b" console_operator\t")]).status_code == 200
        assert browser.get("/queues", headers=[(b"x-forwarded-user", named)]).status_code == 403


def test_a_name_that_postgresql_would_cut_is_not_the_role_that_remains(login_dsn: str, db: Db, orders: int) -> None:
    role = f"{db.info.dbname:r<63}"[:63]
    db.execute(
        sql.SQL("create role {0}; grant howdah_browser to {0}; grant {0} to console_login").format(sql.Identifier(role))
    )
    try:
        console = app(login_dsn, Proxy(["192.0.2.0/24"]))
        with TestClient(console, client=("192.0.2.9", 1)) as browser:
            assert browser.get("/queues", headers={"x-forwarded-user": role}).status_code == 200
            assert browser.get("/queues", headers={"x-forwarded-user": role + "x"}).status_code == 403
    finally:
        db.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def test_a_log_in_with_rights_of_its_own_is_refused_behind_a_proxy(dsn: str, people: None) -> None:
    with TestClient(app(dsn, Proxy(["192.0.2.0/24"])), client=("192.0.2.9", 1)) as browser:
        answer = browser.get("/queues", headers={"x-forwarded-user": "console_browser"})
        assert answer.status_code == 503
        assert "superuser" in answer.text
    inheriting = make_conninfo(dsn, user="console_browser", password=PASSWORD)
    with TestClient(app(inheriting, Proxy(["192.0.2.0/24"])), client=("192.0.2.9", 1)) as browser:
        answer = browser.get("/queues", headers={"x-forwarded-user": "console_browser"})
        assert answer.status_code == 503


def test_a_host_application_that_names_nobody_shows_nothing(login_dsn: str, db: Db) -> None:
    with TestClient(app(login_dsn, Host(lambda request: None))) as browser:
        assert browser.get("/").status_code == 403


def test_a_proxy_has_to_be_named() -> None:
    with pytest.raises(ValueError, match="trusted"):
        Proxy([])
