"""A file of hooks that says nonsense is refused in words that tell no secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import howdah, refused
from hooks_support import File

from howdah.workers import AppError
from howdah.workers.hooks.config import load_hooks
from howdah.workers.hooks.text import Template


@pytest.fixture
def file(tmp_path: Path) -> File:
    """Writes and loads a configuration."""
    return File(tmp_path / "hooks.toml")


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


def test_the_queue_is_the_systems_advisory_queue_unless_another_is_named(tmp_path: Path) -> None:
    path = tmp_path / "hooks.toml"
    path.write_text(HOOK)
    assert load_hooks(path, {}).queue == "_SYSTEM.Advisory"
