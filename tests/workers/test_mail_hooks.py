"""A hook mails the event to its recipients, and gives its password only to a server it can trust."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hook_servers import MailServer, serving
from hooks_support import EVENT, QUEUE, File, Handled
from support import Db, one

from howdah.engine import Connection, connect
from howdah.workers.hooks.handler import Hooks


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


def mail_hook(server: MailServer, more: str) -> str:
    return (
        f'[[email]]\nhost = "127.0.0.1"\nport = {server.port}\nfrom = "howdah@example.org"\n'
        f'to = ["admin@example.org", "other@example.org"]\n{more}\n'
    )


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
