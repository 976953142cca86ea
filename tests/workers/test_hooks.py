"""Hooks: administrators are told of events by webhook and e-mail, and nothing but the event is told."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import howdah, refused
from command import start as start_program
from hook_servers import MailServer, WebServer, serving
from support import SYSTEM, Db, column, one, wait_until
from workers_support import StartWorkers

from howdah.engine import Connection, Reject, Retry, connect
from howdah.workers import AppError, Transaction
from howdah.workers.hooks.config import Configuration, load_hooks
from howdah.workers.hooks.handler import TARGET, Hooks
from howdah.workers.hooks.text import Template

QUEUE = "advisories"
EVENT = {
    "event": "MESSAGE_DEAD",
    "queue": "orders",
    "message_id": 4000017,
    "reason": 'failed "deliveries"\nreached the limit: {event} é',
    "at": "2026-11-21T08:00:00+00:00",
}
ENVIRONMENT = {"TOKEN": "secret-token", "PASSWORD": "secret-password"}


@pytest.fixture
def web() -> Iterator[WebServer]:
    """A running web server."""
    with serving(WebServer()) as server:
        yield server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A key and a certificate for 127.0.0.1, in one file."""
    path = tmp_path_factory.mktemp("certificate") / "both.pem"
    done = subprocess.run(
        f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
        f" -keyout {path} -out {path.with_suffix('.crt')}".split(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("openssl cannot make a certificate")
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return str(path)


class File:
    """A configuration file of the test."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, text: str, queue: str = QUEUE) -> Configuration:
        self.path.write_text(f'queue = "{queue}"\n{text}')
        return load_hooks(self.path, ENVIRONMENT)


@pytest.fixture
def file(tmp_path: Path) -> File:
    """Writes and loads a configuration."""
    return File(tmp_path / "hooks.toml")


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    """A connection, and the queue of advisories."""
    with connect(dsn) as connection:
        connection.admin.create_queue(QUEUE)
        yield connection


class Handled:
    """Advisories handled in this process, as a worker would."""

    def __init__(self, connection: Connection, hooks: Hooks) -> None:
        self._connection = connection
        self._hooks = hooks

    def __call__(self, event: Any = None) -> str:
        """Send an advisory, if one is given, and handle the next; what became of it."""
        if event is not None:
            self._connection.send(QUEUE, event)
        with self._connection.session() as session:
            (message,) = session.receive(QUEUE)
            try:
                self._hooks.handle(message, Transaction(session.connection, "test"))
                session.commit()
                return "handled"
            except (Reject, Retry) as outcome:
                session.rollback()
                incident = self._connection.record_failure(message, outcome)
        assert incident is not None
        return incident.outcome


def webhook(url: str, more: str = "") -> str:
    return f'[[webhook]]\nurl = "{url}"\n{more}\n'


def mail_hook(server: MailServer, more: str) -> str:
    return (
        f'[[email]]\nhost = "127.0.0.1"\nport = {server.port}\nfrom = "howdah@example.org"\n'
        f'to = ["admin@example.org", "other@example.org"]\n{more}\n'
    )


@pytest.mark.slow
def test_a_worker_calls_the_webhook_once_for_each_event_with_its_id_and_reason(
    connection: Connection, db: Db, web: WebServer, file: File, start: StartWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.answers = [200, 503]
    file(webhook(web.url) + "[[webhook]]\nname = 'second'\n" + webhook(web.url).partition("\n")[2])
    file.path.write_text("backoff = 0.1\n" + file.path.read_text())
    monkeypatch.setenv("HOWDAH_HOOKS", str(file.path))
    sent = connection.send(QUEUE, EVENT)
    workers = start(target=TARGET)
    wait_until(lambda: column(db, "select count(*) from howdah.audit_messages") == [0])
    assert [json.loads(body) for _, _, body in web.got] == [EVENT] * 3
    assert len(workers.events("hook told")) == 2
    assert [headers["Howdah-Advisory"] for _, headers, _ in web.got] == [f"{sent}-0"] * 3
    assert column(db, "select error_text from howdah.incidents()") == ["webhook second answered 503"]
    assert "secret-in-url" not in workers.log.read_text()


@pytest.mark.behaviour("SSB-29")
def test_of_a_dead_message_the_administrators_webhook_hears_once(
    connection: Connection, db: Db, web: WebServer, file: File, start: StartWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = '{"max_failed_deliveries": 1, "notify_admin": true}'
    one(db, "select howdah.create_queue('orders', %s)", (options,))
    file(webhook(web.url), "_SYSTEM.Advisory")
    monkeypatch.setenv("HOWDAH_HOOKS", str(file.path))
    start(target=TARGET)
    sent = connection.send("orders", "x")
    assert one(db, "select outcome from howdah.record_failure('orders', %s)", (sent,)) == "moved"
    wait_until(lambda: one(db, "select live from howdah.queue_stats('_SYSTEM.Advisory')") == 0)
    ((_, _, body),) = web.got
    told = json.loads(body)
    assert (told["event"], told["message_id"], told["reason"]) == (
        "MESSAGE_DEAD",
        sent,
        "failed deliveries reached the limit",
    )


def test_a_webhook_gets_the_event_or_its_own_text_and_headers(
    connection: Connection, web: WebServer, file: File
) -> None:
    text = (
        "body = '{{\"text\": \"{event} of {message_id}: {reason}{none}\"}}'\nheaders_env = { Authorization = 'TOKEN' }"
    )
    plain = "name = 'plain'\ncontent_type = 'text/plain'\nbody = '{reason}'"
    handle = Handled(connection, Hooks(file(webhook(web.url, text) + webhook(web.url, plain))))
    assert handle(EVENT) == "handled"
    (path, headers, body), (_, other, plain_body) = web.got
    assert path == "/in?key=secret-in-url"
    assert (headers["Authorization"], headers["Content-Type"]) == ("secret-token", "application/json")
    assert json.loads(body) == {"text": f"MESSAGE_DEAD of 4000017: {EVENT['reason']}"}
    assert "Authorization" not in other
    assert plain_body.decode() == EVENT["reason"]


@pytest.mark.first_case
@pytest.mark.parametrize("answer", [302, 307, 404, 500])
def test_a_webhook_that_fails_is_tried_three_times_and_its_advisory_is_dead_then(
    connection: Connection, db: Db, web: WebServer, file: File, answer: int
) -> None:
    """Later and later; a redirection is a failure too, and is not followed."""
    web.answers = [answer] * 4
    config = file("backoff = 60\n" + webhook(web.url))
    outcomes: list[str] = []
    for _ in range(3):  # each time by another process, which remembers nothing
        outcomes.append(Handled(connection, Hooks(config))(EVENT if not outcomes else None))
        db.execute("update howdah.poison_details set due_at = howdah.now()")
        db.execute("update howdah.parked set due_at = howdah.now()")
    assert outcomes == ["delayed", "delayed", "moved"]
    assert [json.loads(body) for _, _, body in web.got] == [EVENT] * 3
    assert column(db, "select delay_ms from howdah.poison_details order by 1") == [60_000, 120_000, None]
    assert column(db, "select origin_queue from howdah.browse(%s)", (SYSTEM,)) == [QUEUE]
    assert set(column(db, "select error_text from howdah.incidents()")) == {f"webhook 127.0.0.1 answered {answer}"}
    assert "secret" not in str(db.execute("select * from howdah.incidents()").fetchall())


def test_who_was_told_is_not_told_again_when_another_hook_fails(
    connection: Connection, db: Db, web: WebServer, file: File
) -> None:
    dead = "[[webhook]]\nname = 'dead'\nurl = 'http://127.0.0.1:1/'\n"
    handle = Handled(connection, Hooks(file("backoff = 0\n" + dead + webhook(web.url))))
    assert [handle(EVENT), handle(), handle()] == ["returned", "returned", "moved"]
    assert len(web.got) == 1
    assert "webhook dead does not answer: ConnectionRefusedError" in one(
        db, "select error_text from howdah.incidents() where attempt = 1"
    )
    one(db, "select howdah.replay(%s)", (SYSTEM,))
    assert handle() == "returned"
    assert len(web.got) == 2


def test_a_webhook_that_says_nothing_is_given_up_after_the_time_out(connection: Connection, file: File) -> None:
    with serving(WebServer()) as server:
        server.go_on.clear()
        handle = Handled(connection, Hooks(file("backoff = 0\n" + webhook(server.url, "timeout = 0.5"))))
        assert handle(EVENT) == "returned"
        server.go_on.set()
    (row,) = connection.admin.incidents(QUEUE)
    assert row["error_text"] == "webhook 127.0.0.1 does not answer: TimeoutError: timed out"


def test_hooks_hear_of_their_events_and_queues_only(connection: Connection, web: WebServer, file: File) -> None:
    wants = "events = ['MESSAGE_DEAD', 'QUEUE_DISABLED']\nqueues = ['orders', 'bills.*']"
    handle = Handled(connection, Hooks(file(webhook(web.url, wants))))
    for event, queue in [
        ("MESSAGE_DEAD", "orders"),
        ("MESSAGE_DEAD", "orders.b"),
        ("QUEUE_DISABLED", "bills.b"),
        ("LISTENER_STOPPED", "orders"),
        ("MESSAGE_DEAD", None),
    ]:
        assert handle({"event": event, "queue": queue}) == "handled"
    assert [json.loads(body)["queue"] for _, _, body in web.got] == ["orders", "bills.b"]


def test_an_advisory_about_advisories_ends_there(connection: Connection, web: WebServer, file: File) -> None:
    handle = Handled(connection, Hooks(file(webhook(web.url))))
    assert handle(EVENT | {"queue": QUEUE}) == "handled"
    assert web.got == []


@pytest.mark.first_case
@pytest.mark.parametrize("body", ["", "no JSON", "[]", "{}", '{"event": 7}', b"\xff", "NaN"])
def test_what_is_no_advisory_is_rejected_and_told_to_nobody(
    connection: Connection, web: WebServer, file: File, body: str | bytes
) -> None:
    handle = Handled(connection, Hooks(file(webhook(web.url))))
    assert handle(body) == "moved"
    assert web.got == []


@pytest.mark.first_case
@pytest.mark.parametrize("certified", [True, False])
def test_a_mail_goes_to_all_recipients_by_starttls_and_login(
    connection: Connection, file: File, certificate: str, certified: bool
) -> None:
    secure = f'user = "howdah"\npassword_env = "PASSWORD"\nca_file = "{certificate}"'
    texts = 'subject = "{event}: {reason}"\nbody = "{queue}: {message_id}\\n{reason}"'
    with serving(MailServer(certificate if certified else None)) as server:
        config = file(mail_hook(server, secure if certified else 'security = "none"') + texts)
        sent = connection.send(QUEUE, EVENT)
        assert Handled(connection, Hooks(config))() == "handled"
        (mail,) = server.got
        assert server.logins == ([("howdah", "secret-password")] if certified else [])
        assert server.recipients == ["admin@example.org", "other@example.org"]
    # Folding may have doubled a space.
    assert " ".join(mail["Subject"].split()) == 'MESSAGE_DEAD: failed "deliveries" reached the limit: {event} é'
    assert (mail["From"], mail["To"]) == ("howdah@example.org", "admin@example.org, other@example.org")
    assert mail["Message-ID"] == f"<howdah-{sent}-0@example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail.get_content().splitlines() == f"orders: 4000017\n{EVENT['reason']}".splitlines()


def test_without_a_text_of_its_own_a_mail_lists_the_event(connection: Connection, file: File) -> None:
    with serving(MailServer()) as server:
        assert Handled(connection, Hooks(file(mail_hook(server, 'security = "none"'))))(EVENT) == "handled"
        assert server.got[0]["Subject"] == "[howdah] MESSAGE_DEAD orders"
        assert server.got[0].get_content().splitlines()[:3] == [
            "event: MESSAGE_DEAD",
            "queue: orders",
            "message_id: 4000017",
        ]


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("refuses", "said"),
    [
        ("AUTH", "mail server of admin@example.org, other@example.org answered 451"),
        ("STARTTLS", "failed: SMTPNotSupportedError"),
        ("DATA", "answered 451"),
        ("RCPT", "failed: SMTPRecipientsRefused"),
    ],
)
def test_a_mail_server_that_refuses_is_tried_again_and_no_password_is_told(
    connection: Connection, db: Db, file: File, certificate: str, refuses: str, said: str
) -> None:
    """A server without STARTTLS gets no password at all."""
    secure = f'user = "howdah"\npassword_env = "PASSWORD"\nca_file = "{certificate}"'
    with serving(MailServer(None if refuses == "STARTTLS" else certificate)) as server:
        server.refuses = refuses
        assert Handled(connection, Hooks(file("backoff = 0\n" + mail_hook(server, secure))))(EVENT) == "returned"
        assert server.got == []
    assert said in one(db, "select error_text from howdah.incidents()")
    rows = str(db.execute("select * from howdah.poison_details").fetchall())
    assert "secret" not in rows
    assert "AGhvd2RhaABz" not in rows  # what the server was sent, in base64


def test_a_mail_server_with_a_strange_certificate_gets_no_password(
    connection: Connection, db: Db, file: File, certificate: str
) -> None:
    with serving(MailServer(certificate)) as server:
        config = file("backoff = 0\n" + mail_hook(server, 'user = "howdah"\npassword_env = "PASSWORD"'))
        assert Handled(connection, Hooks(config))(EVENT) == "returned"
        assert server.logins == []
    assert "SSLCertVerificationError" in one(db, "select error_text from howdah.incidents()")


MAIL = "[[email]]\nhost = 'h'\nfrom = 'a@b'\nto = ['c@d']\n"
HOOK = "[[webhook]]\nurl = 'https://example.org/x'\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no hook in it"),
        ("webhook = 7", r"webhook must be written as \[\[webhook\]\]"),
        ("[webhook]\nurl = 'http://h'", r"written as \[\[webhook\]\]"),
        ("what = 1\n" + HOOK, r"unknown: what \(Known are: backoff, email, queue, timeout, tries, webhook"),
        ("tries = 0\n" + HOOK, "tries must be 1 to 100, not 0"),
        ("tries = true\n" + HOOK, "tries must be a whole number"),
        ("timeout = 'x'\n" + HOOK, "timeout must be a number"),
        ("backoff = nan\n" + HOOK, "backoff must be 0 to 86400"),
        ("[[webhook]]", "webhook 1: either url or url_env is needed"),
        ("[[webhook]]\nurl = 'http://secret'\nurl_env = 'TOKEN'", "either url or url_env"),
        ("[[webhook]]\nurl_env = 'NONE'", "the environment variable NONE is not set"),
        ("[[webhook]]\nurl_env = 'TOKEN'", "the URL must be http:// or https://"),
        ("[[webhook]]\nurl = 'file:///etc/secret'", "the URL must be http"),
        ("[[webhook]]\nurl = 'http://secret:secret@h/'", "A token goes in headers_env"),
        ("[[webhook]]\nurl = 'http://h:secret/'", "the URL must be http"),
        ("[[webhook]]\nurl = 'http://h/a b'", "the URL must be http"),
        (HOOK + "password = 'secret'", "unknown: password"),
        (HOOK + "headers = { 'X: y' = 'secret' }", "the header 'X: y' must have a plain name"),
        (HOOK + 'headers = { X = "secret\\nY: z" }', "the header 'X' must have"),
        (HOOK + "headers_env = { X = 'NONE' }", "NONE is not set"),
        (HOOK + "events = 'MESSAGE_DEAD'", "events must be a list of strings"),
        (HOOK + "events = []", "events must be a list of strings"),
        (HOOK + "body = '{event.__class__}'", r"body: \{event.__class__\} is not a plain field"),
        (HOOK + "body = '{0}'", "is not a plain field"),
        (HOOK + "body = '{event!r}'", "is not a plain field"),
        (HOOK + "body = '{event:>9999999}'", "is not a plain field"),
        (HOOK + "body = '{event'", "body: .*Write {field}"),
        (HOOK + HOOK, "two hooks are named example.org"),
        ("[[email]]\nfrom = 'a@b'\nto = ['c@d']", "email 1: host is missing"),
        ("[[email]]\nhost = 'h'\nfrom = 'a'\nto = ['c@d']", "'a' is not a mail address"),
        ("[[email]]\nhost = 'h'\nfrom = 'a@b'\nto = ['c@d, e@f']", "is not a mail address"),
        ("[[email]]\nhost = 'h'\nfrom = 'a@b'\nto = 'c@d'", "to must be a list of strings"),
        (MAIL + "security = 'ssl'", "security must be starttls, tls or none"),
        (MAIL + "security = 'none'\nuser = 'u'\npassword_env = 'PASSWORD'", "not sent in the clear"),
        (MAIL + "user = 'u'", "user and password_env come together"),
        (MAIL + "port = 0", "port must be 1 to 65535"),
        (MAIL + "ca_file = '/nowhere'", "ca_file /nowhere cannot be used"),
        ("[[webhook", "cannot be read"),
    ],
)
def test_a_file_that_says_nonsense_is_refused_in_words_without_secrets(file: File, text: str, said: str) -> None:
    with pytest.raises(AppError, match=said) as refusal:
        file(text)
    assert "secret" not in str(refusal.value).replace("secret/", "")
    assert "secret" not in str(refusal.value)


def test_what_is_shown_of_a_configuration_holds_no_secret(file: File) -> None:
    mail = MAIL + "user = 'u'\npassword_env = 'PASSWORD'\n"
    config = file("[[webhook]]\nurl = 'http://h/secret'\nheaders_env = { X = 'TOKEN' }\n" + mail)
    assert "secret" not in repr(config)


def test_a_field_of_a_template_is_nothing_but_a_field_of_the_event() -> None:
    event = {"event": "{queue}", "queue": None, "n": [1, "é"], "lone": "\ud800"}
    assert Template("{{{event}}} {queue}|{none}|{n}|{lone}").fill(event) == '{{queue}} ||[1, "é"]|?'


def test_the_command_checks_a_file_and_refuses_a_wrong_one(dsn: str, file: File) -> None:
    file(HOOK + "events = ['MESSAGE_DEAD']\n" + MAIL)
    shown = howdah(dsn, "hooks", "check", file.path)
    assert shown.out == "example.org: MESSAGE_DEAD of all queues\nc@d: all events of all queues\n"
    file.path.write_text("tries = 0")
    for command in ("check", "run"):
        refused(howdah(dsn, "hooks", command, file.path), "hooks.toml: tries must be 1 to 100")


@pytest.mark.slow
def test_the_program_tells_and_ends_in_order(
    dsn: str, connection: Connection, db: Db, web: WebServer, file: File
) -> None:
    connection.send(QUEUE, EVENT)
    file(webhook(web.url))
    program = start_program(dsn, "hooks", "run", file.path, stdin=subprocess.DEVNULL)
    wait_until(lambda: web.got and column(db, "select count(*) from howdah.audit_messages") == [0])
    program.terminate()
    _, err = program.communicate(timeout=60)
    assert program.returncode == 0
    assert b"hook told" in err
    assert b"secret" not in err
    file(webhook(web.url), queue="nowhere")
    refused(
        howdah(dsn, "hooks", "run", file.path),
        (
            "there is no queue 'nowhere' (Events have a queue as soon as a queue tells of any:"
            " howdah queue alter NAME -o notify_admin=true.)"
        ),
    )


def test_the_queue_is_the_systems_advisory_queue_unless_another_is_named(tmp_path: Path) -> None:
    path = tmp_path / "hooks.toml"
    path.write_text(HOOK)
    assert load_hooks(path, {}).queue == "_SYSTEM.Advisory"
