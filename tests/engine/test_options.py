"""Options have names and types, which type checkers know: a misspelt one is found before anything runs."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from support import Db, column

import howdah
from howdah.audit.job import AuditOptions, run_audit
from howdah.engine import AckSession, Session, calls, connect
from howdah.engine.calls import admin_options as of_admin
from howdah.engine.calls import consumers, temporary
from howdah.engine.calls import options as of_calls
from howdah.engine.calls.objects import LISTS, TEXTS
from howdah.engine.calls.schedules import schedule
from howdah.engine.jms import options as of_jms
from howdah.engine.plan import ConnectSettings

MISSPELT = """
from howdah.engine import connect
from howdah.workers import App

with connect() as connection, connection.session() as session:
    connection.send("orders", "x", priority=7, time_to_live=60)
    connection.send("orders", "x", priorty=7)
    session.send("orders", "x", time_to_life=60)
    session.producer("orders").send("x", corelation_id="c")
    connection.admin.create_queue("orders", max_failed_delivery=3)
    connection.admin.create_queue("orders", journal_level="ful")
App().schedule("orders", "x", name="n", cronn="* * * * *")
"""


@pytest.mark.slow
def test_mypy_finds_a_misspelt_option_of_send_and_others(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(MISSPELT, encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", "shop.py"],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(str(howdah.__file__)).parents[1])},
        capture_output=True,
        text=True,
    )
    found = [line for line in checked.stdout.splitlines() if line.startswith("shop.py")]
    assert [line.split(":")[1] for line in found if ": error:" in line] == ["7", "8", "9", "10", "11", "12"], checked
    assert 'Unexpected keyword argument "priorty" for "send"' in checked.stdout


@pytest.mark.parametrize(
    ("options", "function", "left"),
    [
        (of_calls.SendOptions, calls.send, set()),
        (of_calls.SendManyOptions, calls.send_many, set()),
        (of_calls.RequestOptions, calls.send, {"correlation_id", "reply_to"}),
        (of_calls.RespondOptions, temporary.respond, set()),
        (of_calls.ReceiveOptions, calls.receive, {"locked", "listener"}),
        (of_calls.BrowseOptions, calls.browse, {"after"}),
        (of_calls.ConsumerOptions, consumers.open_consumer, set()),
        (of_calls.NamedScheduleOptions, schedule, set()),
        (of_calls.StreamOptions, Session.send_stream, set()),
        (of_calls.CopyOptions, Session.send_copy, set()),
        (of_jms.ConsumerOptions, AckSession.consumer, set()),
        (of_jms.SubscriberOptions, AckSession.subscriber, set()),
        (AuditOptions, run_audit, {"previous", "notes"}),
        (ConnectSettings, connect, {"pool", "started"}),
    ],
)
def test_the_options_of_a_verb_are_those_of_its_call(
    options: type, function: Callable[..., Any], left: set[str]
) -> None:
    types = get_type_hints(function)
    taken = {
        name: types[name]
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name not in left
    }
    if any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in inspect.signature(function).parameters.values()
    ):
        taken |= get_type_hints(of_calls.SharedOptions)
    assert get_type_hints(options) == taken


@pytest.mark.parametrize(
    ("owner", "options"),
    [
        ("queue", of_admin.QueueOptions),
        ("topic", of_admin.TopicOptions),
        ("listener", of_admin.ListenerOptions),
        ("engine", of_admin.EngineOptions),
        ("service", of_admin.ServiceOptions),
    ],
)
def test_the_options_of_the_administrator_are_those_that_the_database_takes(db: Db, owner: str, options: type) -> None:
    kinds: dict[str, Any] = {
        "integer": int,
        "number": float,
        "boolean": bool,
        "size": int | str,
        "roles": Sequence[str],
        "options": of_admin.QueueOptions,
        "schema": Mapping[str, object] | bool,
    }
    rows = db.execute(
        "select key, kind, choices, nullable from howdah._option_kinds() where owner = %s", (owner,)
    ).fetchall()
    taken = {}
    for key, kind, choices, nullable in rows:
        one = Literal[tuple(choices)] if kind == "choice" else kinds.get(kind, str)
        taken[key] = one | None if nullable else one
    assert get_type_hints(options) == taken


def test_the_attributes_of_objects_are_those_that_the_database_takes(db: Db) -> None:
    kinds: dict[str, Any] = {"integer": int, "boolean": bool, "hosts": list[str], "names": list[str]}
    taken: dict[str, Any] = {}
    choices: dict[str, list[str]] = {}
    for key, kind, values in db.execute("select key, type, choices from howdah._object_attributes()").fetchall():
        if kind == "choice":
            choices[key] = list(dict.fromkeys([*choices.get(key, []), *values]))
            taken[key] = Literal[tuple(choices[key])] | None
        else:
            taken[key] = kinds.get(kind, str) | None
    assert get_type_hints(of_admin.ObjectAttributes) == taken
    texts = column(db, "select key from howdah._object_attributes() where type in ('text', 'name', 'choice')")
    assert set(texts) == TEXTS
    lists = column(db, "select key from howdah._object_attributes() where type in ('hosts', 'names')")
    assert set(lists) == LISTS


def test_the_storage_options_are_those_that_the_database_names(db: Db) -> None:
    text = column(db, "select prosrc from pg_proc where proname = 'set_storage'")[0]
    assert all(f"'{name}'" in text for name in get_type_hints(of_admin.StorageOptions))
