"""Render the reference of options from what declares them: ``make docs``. docs/options.md comes before it.

``_option_kinds.sql`` and ``_engine_option_kinds.sql`` of ``procedures/options`` have the values that each option may
take. The tables' columns have the defaults and, in their comments, what an option does. A test compares all of it with
a database.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import conformance

from howdah import procedures
from howdah.procedures.reference import marked
from howdah.schema import metadata


@dataclass(frozen=True)
class Owner:
    """What has options: a queue, a topic, an alias, a listener, the engine or a service."""

    name: str
    title: str
    about: str
    #: The function that takes the options, from the root of the repository: what docs/options.md links to.
    source: str
    #: The tables that have the options as columns; the first that has one of that name says what it does.
    tables: tuple[str, ...]
    #: Columns that bear another name than their option.
    columns: dict[str, str]


OWNERS = (
    Owner(
        "queue",
        "Options of queues",
        "`howdah.create_queue` and `howdah.alter_queue` take these options, and so does `howdah.set_policy`. A"
        " subscription takes those of the poison policy. `howdah.queue_options` shows what holds."
        " [Poison messages](../poison.md) explains the policy with its presets, and [limits](../limits.md) the rest.",
        "procedures/destinations/create_queue.sql",
        ("destinations",),
        {},
    ),
    Owner(
        "topic",
        "Options of topics",
        "`howdah.create_topic` and `howdah.alter_topic` take these options, and `howdah.topic_options` shows what"
        " holds. [Topics](../topics.md) explains them.",
        "procedures/topics/create_topic.sql",
        ("topics", "destinations"),
        {},
    ),
    Owner(
        "alias",
        "Options of aliases",
        "`howdah.create_alias` and `howdah.alter_alias` take these options, and `howdah.list_aliases` shows what holds."
        " [Reliability](../reliability.md) explains them.",
        "procedures/aliases/create_alias.sql",
        ("aliases",),
        {},
    ),
    Owner(
        "listener",
        "Options of listeners",
        "`howdah.create_listener` and `howdah.alter_listener` take these options, and `howdah.list_listeners` shows"
        " what holds. [Listeners](../listeners.md) explains them.",
        "procedures/listeners/create_listener.sql",
        ("listeners",),
        {},
    ),
    Owner(
        "engine",
        "Options of the engine",
        "`howdah.alter_engine` takes these options, and `howdah.engine_options` shows what holds."
        " [Limits](../limits.md#the-whole-engine) and [operations](../operations.md) explain them.",
        "procedures/destinations/alter_engine.sql",
        ("engine",),
        {"max_size": "max_bytes"},
    ),
    Owner(
        "service",
        "Options of services",
        "`howdah.alter_service` takes these options, and `howdah.list_services` shows what holds."
        " [Services](../services.md) explains them.",
        "procedures/services/alter_service.sql",
        ("services",),
        {},
    ),
)

UNITS = {
    "ms": "milliseconds",
    "seconds": "seconds",
    "days": "days",
    "bytes": "bytes",
    "threshold": "percent",
    "size": "bytes",
    "byte_limit": "bytes",
    "message_limit": "messages",
    "backlog_limit": "messages",
    "max_count": "messages",
}
"""The units by the ends of names."""

_ROW = re.compile(
    r"\('(?P<owner>queue|topic|alias|listener|engine|service)', '(?P<key>\w+)', '(?P<kind>\w+)', (?P<lowest>[-\d]+), "
    r"(?P<highest>\d+),\s*(?:array\[(?P<choices>[^]]*)\]|null),\s*(?P<nullable>true|false)\)"
)


@dataclass(frozen=True)
class Option:
    """One option: what it may be, what it is if nobody says, and what it does."""

    owner: Owner
    key: str
    kind: str
    lowest: int
    highest: int
    choices: tuple[str, ...]
    nullable: bool

    def _column(self) -> tuple[str | None, str]:
        """The default and the comment of its column."""
        if self.key == "preset":
            return (
                "howdah",
                "A whole policy: that of one of four systems, or Howdah's own. Options beside it override it.",
            )
        name = self.owner.columns.get(self.key, self.key)
        for table in self.owner.tables:
            columns = metadata.tables[f"howdah.{table}"].columns
            if name in columns:
                default = getattr(columns[name].server_default, "arg", None)
                return (None if default is None else str(default)), columns[name].comment or ""
        raise KeyError(self.key)

    @property
    def default(self) -> str | None:
        """As it stands in the column's declaration. None: NULL."""
        return self._column()[0]

    @property
    def unit(self) -> str:
        """Its unit, if it has one."""
        return next((unit for end, unit in UNITS.items() if self.key == end or self.key.endswith(f"_{end}")), "")

    def type(self) -> str:
        """What it may be."""
        words = {
            "integer": f"a whole number, {self.lowest} to {self.highest}",
            "number": f"a number, {self.lowest} to {self.highest}",
            "boolean": "`true` or `false`",
            "size": 'a number, or a text such as `"10k"` or `"5m"`',
            "choice": ", ".join(f"`{choice}`" for choice in self.choices),
            "name": "a name" if self.owner.name == "service" else "the name of a queue",
            "rate": "a [rate](../handler-limits.md#rates)",
            "schema": "a [JSON Schema](../contracts.md#the-keywords)",
            "header": "the name of a header",
            "roles": "an array of names of roles",
            "text": "a text",
            "function": "the name of a function with its schema",
            "selector": "a [selector](../selectors.md)",
            "options": "a JSON object of [options of a queue](queue.md)",
            "rule_set": "the name of a [set of rules](../access.md#sets-of-rules)",
        }[self.kind]
        return f"{words}; or null" if self.nullable else words

    def meaning(self) -> str:
        """What it does."""
        return marked(self._column()[1])


def options() -> list[Option]:
    """All options, in the order in which they are declared."""
    owners = {owner.name: owner for owner in OWNERS}
    return [
        Option(
            owners[match["owner"]],
            match["key"],
            match["kind"],
            int(match["lowest"]),
            int(match["highest"]),
            tuple(re.findall(r"'(\w+)'", match["choices"] or "")),
            match["nullable"] == "true",
        )
        for file in ("_option_kinds", "_engine_option_kinds")
        for match in _ROW.finditer(procedures.source(f"options/{file}"))
    ]


def rules() -> dict[str, list[str]]:
    """The rows of conformance that name an option, by the option."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for page in conformance.catalogue():
        for row in page.rows:
            for key in sorted(set(re.findall(r"`(\w+)[`: ]", row.howdah))):
                named[key].append(f"[{row.id}](../conformance/{page.name}.md)")
    return named


def _table(owner: Owner, named: dict[str, list[str]]) -> Iterator[str]:
    yield "| option | what it does | values | default | unit | conformance |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for option in options():
        if option.owner == owner:
            default = f"`{option.default}`" if option.default is not None else "null"
            rows = ", ".join(named.get(option.key, [])[:4])
            cells = [f"`{option.key}`", option.meaning(), option.type(), default, option.unit, rows]
            yield "| " + " | ".join(cells) + " |"


def render() -> dict[str, str]:
    """Each owner's page by its name."""
    named = rules()
    return {
        owner.name: "\n\n".join([f"# {owner.title}", owner.about, "\n".join(_table(owner, named))]) + "\n"
        for owner in OWNERS
    }
