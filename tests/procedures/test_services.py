"""Services: which there are, who connects with them, and what their sessions may call."""

from __future__ import annotations

import re

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Connect, Db, column, one

from howdah.procedures import FILES, headers, source

ADMINISTRATIVE = sorted(
    header.name
    for name in FILES
    for header in headers(source(name))
    if header.kind == "function" and header.roles == ("howdah_admin",)
)


def connected(db: Db, service: str | None) -> None:
    """Have a session belong to a service."""
    db.execute("select howdah.connect_service(%s)", (service,))


def refused(db: Db, service: str | None, sqlstate: str = "HD044") -> str:
    """Why a service refuses a session."""
    with pytest.raises(psycopg.Error) as caught:
        connected(db, service)
    assert caught.value.sqlstate == sqlstate
    return str(caught.value)


def alter(db: Db, service: str, **options: object) -> None:
    """Change a service."""
    db.execute("select howdah.alter_service(%s, %s)", (service, Jsonb(options)))


@pytest.mark.behaviour("IMQ-07")
def test_all_services_are_listed_and_those_over_http_with_the_reason_why_there_are_none(db: Db) -> None:
    rows = db.execute("select service, kind, active, require_tls, unavailable from howdah.list_services()").fetchall()
    reason = "PostgreSQL's protocol is the only transport"
    assert rows == [
        ("admin", "ADMIN", True, False, None),
        ("httpjms", "NORMAL", False, False, reason),
        ("httpsjms", "NORMAL", False, True, reason),
        ("jms", "NORMAL", True, False, None),
        ("ssladmin", "ADMIN", False, True, None),
        ("ssljms", "NORMAL", False, True, None),
    ]
    assert reason in refused(db, "httpjms")


@pytest.mark.behaviour("IMQ-06")
def test_a_service_that_is_not_active_accepts_nobody_and_the_others_do(db: Db, connect: Connect) -> None:
    connected(db, "jms")
    alter(connect(), "jms", active=False)
    assert "service jms is not active" in refused(connect(), "jms")
    connected(connect(), "admin")
    one(db, "select howdah.engine_options()")  # who is connected stays
    alter(connect(), "jms", active=True)
    connected(connect(), "jms")


@pytest.mark.parametrize("name", ["nothing", "", None, "JMS"])
def test_an_unknown_service_accepts_nobody_and_the_hint_names_the_active_ones(db: Db, name: str | None) -> None:
    said = refused(db, name)
    assert "there is no service" in said
    assert "Active services are: admin, jms." in said
    assert one(db, "select current_setting('howdah.service', true)") in (None, "")


@pytest.mark.behaviour("IMQ-69")
def test_a_service_with_tls_refuses_a_session_without(db: Db) -> None:
    alter(db, "ssljms", active=True)
    assert one(db, "select ssl from pg_stat_ssl where pid = pg_backend_pid()") is False
    assert "service ssljms demands TLS" in refused(db, "ssljms")
    alter(db, "ssljms", require_tls=False)
    connected(db, "ssljms")


@pytest.mark.behaviour("IMQ-05")
@pytest.mark.parametrize("name", ADMINISTRATIVE)
def test_a_function_of_administrators_alone_is_refused_in_a_session_of_a_service_for_messages(
    db: Db, name: str
) -> None:
    """Whoever the caller is; a session of the service admin, or of none, gets as far as its arguments."""
    signatures = db.execute(
        "select array(select format_type(t, null) from unnest(p.proargtypes) t) from pg_proc p"
        " where p.pronamespace = 'howdah'::regnamespace and p.proname = %s",
        (name,),
    ).fetchall()
    assert signatures
    for service in ("jms", "admin", ""):
        db.execute("select set_config('howdah.service', %s, false)", (service,))
        for (types,) in signatures:
            nulls = ", ".join(f"null::{of}" for of in types)
            try:
                with db.transaction(force_rollback=True):
                    db.execute(f"set local statement_timeout = '5s'; select howdah.{name}({nulls})".encode())
            except psycopg.Error as error:
                state = error.sqlstate
            else:
                state = None
            assert (state == "HD044") == (service == "jms"), (types, service, state)


def test_no_function_for_others_calls_one_of_administrators(db: Db) -> None:
    """It would be refused in a session for messages, though the function that was called is not."""
    rows = db.execute(
        "select proname::text, prosrc from pg_proc where pronamespace = 'howdah'::regnamespace"
    ).fetchall()
    bodies = {name: re.sub(r"'(?:[^']|'')*'", "''", re.sub(r"--[^\n]*", "", body)) for name, body in rows}
    assert len(bodies) > 500
    called = {name: set(re.findall(r"howdah\.(\w+)\s*\(", body)) for name, body in bodies.items()}
    assert {name for name, others in called.items() if name not in ADMINISTRATIVE and others & set(ADMINISTRATIVE)} == {
        name for name in called if name.startswith(("_apply", "_switch_paused")) and called[name] & set(ADMINISTRATIVE)
    }


def test_a_session_of_a_service_for_messages_sends_and_receives(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    connected(db, "jms")
    one(db, "select howdah.send('q', 'x'::text)")
    assert column(db, "select body from howdah.receive('q')") == ["x"]
    with pytest.raises(psycopg.Error, match="service 'jms' is not for administration") as caught:
        one(db, "select howdah.create_queue('other')")
    assert caught.value.sqlstate == "HD044"
    connected(db, "admin")
    one(db, "select howdah.create_queue('other')")


def test_a_service_with_roles_accepts_their_members_alone(db: Db, connect: Connect) -> None:
    alter(db, "jms", roles=["howdah_producer"])
    connected(connect("howdah_producer"), "jms")
    assert "role howdah_consumer may not connect with service jms" in refused(
        connect("howdah_consumer"), "jms", "HD010"
    )
    alter(db, "jms", roles=None)
    connected(connect("howdah_consumer"), "jms")


def test_a_service_of_administrators_refuses_other_roles(connect: Connect) -> None:
    refused(connect("howdah_producer"), "admin", "HD010")
    connected(connect("howdah_admin"), "admin")


def test_a_refused_service_leaves_the_session_with_the_service_that_it_had(db: Db) -> None:
    connected(db, "jms")
    refused(db, "ssljms")
    assert one(db, "select current_setting('howdah.service')") == "jms"


def test_a_clients_pool_is_told_its_settings(db: Db) -> None:
    alter(db, "jms", min_connections=2, max_connections=20, idle_seconds=5, model="dedicated", monitor_limit=7)
    assert db.execute("select * from howdah.connect_service('jms')").fetchall() == [
        ("jms", "NORMAL", "dedicated", 2, 20, 5, 7)
    ]


def test_names_of_sun_one_mq_are_accepted(db: Db) -> None:
    alter(
        db, "jms", **{
            "imq.jms.min_threads": 3, "imq.jms.max_threads": 9, "imq.jms.threadpool_model": "dedicated",
            "imq.jms.accesscontrol.enabled": False, "imq.shared.connectionMonitor_limit": 0,
        }
    )  # fmt: skip
    assert db.execute(
        "select min_connections, max_connections, model, access_enabled, monitor_limit from howdah.list_services()"
        " where service = 'jms'"
    ).fetchall() == [(3, 9, "dedicated", False, 0)]
    with pytest.raises(psycopg.Error, match="there is no option"):
        alter(db, "jms", **{"imq.admin.max_threads": 3})


@pytest.mark.parametrize(
    "options",
    [
        {"min_connections": 10},
        {"max_connections": 0},
        {"min_connections": -1},
        {"idle_seconds": 0},
        {"monitor_limit": -1},
        {"model": "threads"},
        {"active": None},
        {"roles": "howdah_admin"},
        {"roles": [1]},
        {"roles": ["nobody at all"]},
        {"comment": 1},
        {"nothing": 1},
    ],
)
def test_a_wrong_option_is_refused_and_changes_nothing(db: Db, options: dict[str, object]) -> None:
    before = db.execute("select * from howdah.list_services()").fetchall()
    with pytest.raises(psycopg.Error) as caught:
        alter(db, "jms", **options)
    assert caught.value.sqlstate == "HD004"
    assert db.execute("select * from howdah.list_services()").fetchall() == before


def test_each_change_is_on_record(db: Db) -> None:
    alter(db, "jms", active=False)
    alter(db, "jms", active=False)
    assert db.execute(
        "select name, act, before ->> 'active', after ->> 'active' from howdah.config_changes where kind = 'service'"
    ).fetchall() == [("jms", "altered", "true", "false")]
