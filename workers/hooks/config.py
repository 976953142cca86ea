"""The file that maps events to webhooks and mail addresses, read and checked as a whole."""

from __future__ import annotations

import ssl
import string
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..app import AppError
from .text import Template

ADVISORY_QUEUE = "_SYSTEM.Advisory"
_KINDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    list: "a list of strings",
    dict: "a table",
}


@dataclass(frozen=True)
class Hook:
    """What a webhook and a mail hook have in common."""

    name: str
    #: Names of events; empty: all.
    events: tuple[str, ...]
    #: Names of queues, in which * stands for any characters; empty: all.
    queues: tuple[str, ...]
    #: Seconds that the other side may be silent.
    timeout: float

    def wants(self, event: Mapping[str, Any]) -> bool:
        """Return whether this hook wants the event."""
        named = not self.events or event.get("event") in self.events
        queue = str(event.get("queue") or "")
        return named and (not self.queues or any(fnmatchcase(queue, pattern) for pattern in self.queues))


@dataclass(frozen=True)
class Webhook(Hook):
    """An address that events are posted to. What may be secret is never shown."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content_type: str
    #: None: the event as it is, in JSON.
    body: Template | None


@dataclass(frozen=True)
class MailHook(Hook):
    """Recipients of a mail, and the mail server."""

    host: str
    port: int
    security: str
    user: str | None
    password: str | None = field(repr=False)
    context: ssl.SSLContext = field(repr=False)
    sender: str
    recipients: tuple[str, ...]
    subject: Template
    #: None: the event's fields, one a line.
    body: Template | None


@dataclass(frozen=True)
class Configuration:
    """The whole file."""

    queue: str
    #: Deliveries of an event before it is given up.
    tries: int
    #: Seconds before the second try; doubled before each further one.
    backoff: float
    hooks: tuple[Webhook | MailHook, ...]


class Section:
    """A table of the file. ``end`` finds the entries that nobody read."""

    def __init__(self, table: Mapping[str, Any], where: str, environment: Mapping[str, str]) -> None:
        self._table, self._asked, self._where, self._environment = table, set[str](), where, environment

    def error(self, text: str, hint: str | None = None) -> AppError:
        """Return an error with its place in the file."""
        return AppError(f"{self._where}: {text}", hint)

    def get(self, key: str, kind: type, default: Any = None, *, needed: bool = False) -> Any:
        """Return an entry of that kind, or its default if it is missing."""
        self._asked.add(key)
        if key not in self._table:
            if needed:
                raise self.error(f"{key} is missing")
            return default
        value = self._table[key]
        fits = isinstance(value, int | float if kind is float else kind) and not isinstance(value, bool)
        if kind is list and fits:
            fits = bool(value) and all(isinstance(item, str) and item for item in value)
        if not fits or value == "":
            raise self.error(f"{key} must be {_KINDS[kind]}")
        return value

    def number(self, key: str, kind: type, default: float, least: float, most: float) -> Any:
        """Return a number within bounds."""
        value = self.get(key, kind, default)
        if not least <= value <= most:
            raise self.error(f"{key} must be {least:g} to {most:g}, not {value!r}")
        return value

    def secret(self, variable: str) -> str:
        """Return an environment variable's value, which no message ever shows."""
        value = self._environment.get(variable)
        if not value:
            raise self.error(f"the environment variable {variable} is not set")
        return value

    def template(self, key: str, default: str | None = None) -> Template | None:
        """Return a text with {fields}."""
        text = self.get(key, str, default)
        try:
            return None if text is None else Template(text)
        except ValueError as error:
            raise self.error(
                f"{key}: {error}", "Write {field} for a field of the event, and {{ and }} for braces."
            ) from None

    def tables(self, key: str) -> Iterator[Section]:
        """Return the tables of an array of tables: [[key]]."""
        self._asked.add(key)
        tables = self._table.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.error(f"{key} must be written as [[{key}]]")
        for number, table in enumerate(tables, 1):
            yield Section(table, f"{self._where}: {key} {number}", self._environment)

    def end(self) -> None:
        """Raise AppError for unknown entries."""
        unknown = sorted(self._table.keys() - self._asked)
        if unknown:
            raise self.error(f"unknown: {', '.join(unknown)}", f"Known are: {', '.join(sorted(self._asked))}.")


def load_hooks(path: Path, environment: Mapping[str, str]) -> Configuration:
    """Read and check the file. Raises AppError, which says what is wrong but never a secret."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AppError(f"{path} cannot be read: {error}") from error
    file = Section(table, str(path), environment)
    timeout = file.number("timeout", float, 10, 0.1, 300)
    configuration = Configuration(
        queue=file.get("queue", str, ADVISORY_QUEUE),
        tries=file.number("tries", int, 3, 1, 100),
        backoff=file.number("backoff", float, 30, 0, 86400),
        hooks=(
            *(_webhook(section, timeout) for section in file.tables("webhook")),
            *(_mail_hook(section, timeout) for section in file.tables("email")),
        ),
    )
    file.end()
    if not configuration.hooks:
        raise file.error("there is no hook in it", "Add a [[webhook]] or an [[email]].")
    names = [hook.name for hook in configuration.hooks]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise file.error(f"two hooks are named {twice[0]}", "Give each a name of its own: name = …")
    return configuration


def _common(section: Section, name: str, timeout: float) -> dict[str, Any]:
    return {
        "name": section.get("name", str, name),
        "events": tuple(section.get("events", list, ())),
        "queues": tuple(section.get("queues", list, ())),
        "timeout": section.number("timeout", float, timeout, 0.1, 300),
    }


def _webhook(section: Section, timeout: float) -> Webhook:
    url, variable = section.get("url", str), section.get("url_env", str)
    if (url is None) == (variable is None):
        raise section.error("either url or url_env is needed")
    url = section.secret(variable) if url is None else url
    parts = urlsplit(url) if url.isascii() and url.isprintable() and " " not in url else None
    try:
        fits = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if parts is None or not fits or parts.username is not None:
        raise section.error(
            "the URL must be http:// or https://, in ASCII, without user name", "A token goes in headers_env."
        )
    headers = dict(section.get("headers", dict, {}))
    for header, source in section.get("headers_env", dict, {}).items():
        headers[header] = section.secret(str(source))
    for header, value in headers.items():
        token = set(header) <= set(string.ascii_letters + string.digits + "-_")
        if not header or not token or not isinstance(value, str) or not value.isascii() or not value.isprintable():
            raise section.error(f"the header {header!r} must have a plain name and printable ASCII text as value")
    webhook = Webhook(
        **_common(section, str(parts.hostname), timeout),
        url=url,
        headers=headers,
        content_type=section.get("content_type", str, "application/json"),
        body=section.template("body"),
    )
    section.end()
    return webhook


def _mail_hook(section: Section, timeout: float) -> MailHook:
    security = section.get("security", str, "starttls")
    ports = {"starttls": 587, "tls": 465, "none": 25}
    if security not in ports:
        raise section.error(f"security must be starttls, tls or none, not {security!r}")
    user, variable = section.get("user", str), section.get("password_env", str)
    if (user is None) != (variable is None):
        raise section.error("user and password_env come together")
    if user is not None and security == "none":
        raise section.error("a password is not sent in the clear", 'Set security = "starttls" or "tls".')
    sender, recipients = section.get("from", str, needed=True), section.get("to", list, needed=True)
    for address in (sender, *recipients):
        local, at, domain = address.rpartition("@")
        if not (local and at and domain) or not address.isprintable() or any(c in address for c in " ,;<>"):
            raise section.error(f"{address!r} is not a mail address")
    authority = section.get("ca_file", str)
    try:
        context = ssl.create_default_context(cafile=authority)
    except OSError as error:
        raise section.error(f"ca_file {authority} cannot be used: {error}") from error
    mail = MailHook(
        **_common(section, ", ".join(recipients), timeout),
        host=section.get("host", str, needed=True),
        port=section.number("port", int, ports[security], 1, 65535),
        security=security,
        user=user,
        password=None if variable is None else section.secret(variable),
        context=context,
        sender=sender,
        recipients=tuple(recipients),
        subject=section.template("subject", "[howdah] {event} {queue}") or Template(""),
        body=section.template("body"),
    )
    section.end()
    return mail
