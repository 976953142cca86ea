"""Access rules decide who may do what, in a documented order."""

from __future__ import annotations

from typing import Any

import pytest
from access_rules_support import RULE, SEND, may, rule
from psycopg.types.json import Jsonb
from support import Connect, Db, column, one, refused


def service(db: Db, name: str, **options: Any) -> None:
    db.execute("select howdah.alter_service(%s, %s)", (name, Jsonb(options)))


@pytest.fixture
def q(db: Db) -> str:
    one(db, "select howdah.create_queue('q')")
    return "q"


PRECEDENCES: dict[str, tuple[list[tuple[str, str]], bool]] = {
    "what no rule covers is denied": ([("queue.other.produce.allow.user", "tom")], False),
    "a user precedes all users": (
        [("queue.q.produce.allow.user", "tom"), ("queue.q.produce.deny.user", "*")],
        True,
    ),
    "a user precedes his groups": (
        [("queue.q.produce.allow.user", "tom"), ("queue.q.produce.deny.group", "staff")],
        True,
    ),
    "all users precede all groups": (
        [("queue.q.produce.deny.user", "*"), ("queue.q.produce.allow.group", "*")],
        False,
    ),
    "a name precedes all names": (
        [("queue.q.produce.deny.group", "*"), ("queue.*.produce.allow.user", "tom")],
        False,
    ),
    "allowed and denied by one key is denied": (
        [("queue.q.produce.allow.group", "staff"), ("queue.q.produce.deny.group", "visitors")],
        False,
    ),
    "the last of several rules wins": (
        [("queue.q.produce.allow.user", "ann"), ("queue.q.produce.allow.user", "tom")],
        True,
    ),
}


@pytest.mark.behaviour("IMQ-68")
@pytest.mark.parametrize("how", PRECEDENCES)
def test_rules_decide_in_the_documented_order(db: Db, connect: Connect, team: dict[str, str], q: str, how: str) -> None:
    rules, allowed = PRECEDENCES[how]
    one(db, "select howdah.create_rule_set('mine')")
    one(db, 'select howdah.alter_engine(\'{"rule_set": "mine"}\')')
    for key, principal in rules:
        rule(db, key, team.get(principal, principal), rule_set="mine")
    tom = connect(team["tom"])
    assert may(tom) is allowed
    explained = one(db, "select allowed from howdah.explain_access(%s, 'queue', 'q', 'produce')", (team["tom"],))
    assert explained is allowed
    if how == "the last of several rules wins":
        assert not may(connect(team["ann"]))


@pytest.mark.first_case
@pytest.mark.parametrize("how", PRECEDENCES)
def test_rules_decide_of_all_queues_at_once_as_of_each(
    db: Db, connect: Connect, team: dict[str, str], q: str, how: str
) -> None:
    """The one look at all rights, against what lists ask of each queue."""
    one(db, "select howdah.create_rule_set('mine')")
    one(db, 'select howdah.alter_engine(\'{"rule_set": "mine"}\')')
    one(db, "select howdah.create_queue('other')")
    tom = connect(team["tom"])
    for operation in ("produce", "consume", "browse", "admin"):
        for key, principal in PRECEDENCES[how][0]:
            rule(db, key.replace("produce", operation), team.get(principal, principal), rule_set="mine")
        each = column(tom, "select queue from howdah.list_queues()")
        assert column(tom, "select n from howdah.queue_names() n") == each
        assert column(tom, "select queue_name from howdah.queue_stats()") == each
        assert ("q" in each) is PRECEDENCES[how][1]


def test_of_two_wildcards_the_more_specific_decides(db: Db, connect: Connect, team: dict[str, str]) -> None:
    one(db, "select howdah.create_queue('JOBS.print.a4')")
    tom, call = connect(team["tom"]), "select howdah.send('JOBS.print.a4', 'x')"
    wildcards = ["*", ">", "JOBS.>", "JOBS.*.*", "JOBS.*.a4", "JOBS.print.*", "JOBS.print.a4"]
    for n, name in enumerate(wildcards):
        access = ("deny", "allow")[n % 2]
        one(db, RULE, ("default", "queue", name, "produce", access == "allow", "user", [team["tom"]]))
        assert may(tom, call) is (access == "allow"), name


@pytest.mark.behaviour("IMQ-63")
def test_each_operation_is_allowed_and_denied_by_a_rule(db: Db, connect: Connect, team: dict[str, str], q: str) -> None:
    calls = {
        "produce": SEND,
        "consume": "select howdah.receive('q')",
        "browse": "select howdah.browse('q')",
    }
    tom = connect(team["tom"])
    for operation, call in calls.items():
        rule(db, f"queue.q.{operation}.deny.user", team["tom"])
        assert not may(tom, call)
        rule(db, f"queue.*.{operation}.deny.user", team["ann"])
        rule(db, f"queue.q.{operation}.allow.user", team["ann"])
        assert may(connect(team["ann"]), call)
    allowed = "select allowed from howdah.explain_access(%s, %s, %s, %s)"
    for resource, name, operation in (("connection", "NORMAL", "connect"), ("queue", "new", "create")):
        rule(db, f"{resource}.{name}.{operation}.deny.user", team["tom"])
        rule(db, f"{resource}.{name}.{operation}.allow.user", team["ann"])
        assert one(db, allowed, (team["tom"], resource, name, operation)) is False
        assert one(db, allowed, (team["ann"], resource, name, operation)) is True


@pytest.mark.behaviour("IMQ-64")
def test_at_first_only_the_group_of_administrators_may_connect_as_administrators(db: Db, team: dict[str, str]) -> None:
    ask = "select allowed, rule from howdah.explain_access(%s, 'connection', %s, 'connect')"
    assert db.execute(ask, (team["tom"], "NORMAL")).fetchone() == (True, "connection.NORMAL.allow.user")
    assert db.execute(ask, (team["tom"], "ADMIN")).fetchone() == (False, None)
    assert db.execute(ask, ("howdah_admin", "ADMIN")).fetchone() == (True, "connection.ADMIN.allow.group")


@pytest.mark.behaviour("IMQ-65")
def test_with_access_control_off_a_message_is_sent_without_a_rule(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    one(db, "select howdah.create_rule_set('none')")
    one(db, 'select howdah.alter_engine(\'{"rule_set": "none"}\')')
    tom = connect(team["tom"])
    assert not may(tom)
    assert one(db, "select howdah.engine_options() -> 'access_enabled'") is True
    one(db, "select howdah.alter_engine('{\"imq.accesscontrol.enabled\": false}')")
    assert may(tom)
    refused(connect("howdah_consumer"), "42501", SEND)
    one(db, "select howdah.alter_engine('{\"access_enabled\": true}')")
    assert not may(tom)


@pytest.mark.behaviour("IMQ-67")
def test_two_sets_of_rules_exchange_who_may_send(db: Db, connect: Connect, team: dict[str, str], q: str) -> None:
    sessions = {name: connect(team[name]) for name in ("tom", "ann")}
    for name in sessions:
        text = f"queue.q.produce.allow.user={team[name]}"
        assert one(db, "select howdah.import_rules(%s, %s)", (f"of_{name}", text)) == 3
    for name, other in (("tom", "ann"), ("ann", "tom"), ("tom", "ann")):
        one(db, "select howdah.alter_engine(%s::jsonb)", (f'{{"rule_set": "of_{name}"}}',))
        assert may(sessions[name])
        assert not may(sessions[other])


@pytest.mark.behaviour("IMQ-66")
@pytest.mark.behaviour("IMQ-16")
def test_a_service_has_a_switch_and_a_set_of_its_own(db: Db, connect: Connect, team: dict[str, str], q: str) -> None:
    """Tom belongs to no service, and so to jms; the administrators' role to admin."""
    one(db, "select howdah.import_rules('nobody', 'queue.q.admin.allow.user=*')")
    service(db, "admin", roles=["howdah_admin"])
    for name in ("jms", "admin"):
        service(db, name, rule_set="nobody")
    tom, admin = connect(team["tom"]), connect("howdah_admin")
    assert not may(tom)
    assert not may(admin)
    service(db, "jms", access_enabled=False)
    service(db, "admin", access_enabled=True)
    assert may(tom)
    assert not may(admin)
    service(db, "admin", access_enabled=None, rule_set=None)
    assert may(admin)
    refused(db, "HD004", """select howdah.alter_service('jms', '{"rule_set": "none"}')""")
    refused(tom, "42501", "update howdah.services set rule_set = null")


def test_what_a_session_says_of_its_service_changes_no_right(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    one(db, "select howdah.create_rule_set('nobody')")
    service(db, "admin", roles=["howdah_admin"])
    service(db, "jms", rule_set="nobody")
    service(db, "admin", access_enabled=False)
    tom = connect(team["tom"])
    tom.execute("set howdah.service = 'admin'")
    assert not may(tom)


def test_the_explanation_names_the_rule_the_principal_and_the_set(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    ask = "select allowed, rule, principal, rule_set, why from howdah.explain_access(%s, 'queue', 'q', %s)"
    assert db.execute(ask, (team["tom"], "produce")).fetchone() == (
        *(True, "queue.*.produce.allow.group", "howdah_producer", "default"),
        "the rule allows the group howdah_producer",
    )
    rule(db, "queue.q.produce.deny.user", team["tom"])
    assert db.execute(ask, (team["tom"], "produce")).fetchone() == (
        *(False, "queue.q.produce.deny.user", team["tom"], "default"),
        "the rule denies the user",
    )
    assert db.execute(ask, (team["staff"], "consume")).fetchone() == (
        *(False, None, None, "default"),
        "no rule covers the role",
    )


def test_an_alias_has_the_rules_of_its_target_and_the_explanation_says_so(
    db: Db, connect: Connect, team: dict[str, str], q: str
) -> None:
    db.execute("select howdah.create_alias('other', 'q')")
    ask = "select allowed, rule, why from howdah.explain_access(%s, 'queue', 'other', 'produce')"
    send = "select howdah.send('other', 'x')"
    rule(db, "queue.other.produce.deny.user", team["tom"])
    assert may(connect(team["tom"]), send)
    assert db.execute(ask, (team["tom"],)).fetchone() == (
        *(True, "queue.*.produce.allow.group"),
        "the rule allows the group howdah_producer ('other' is an alias of 'q')",
    )
    rule(db, "queue.q.produce.deny.user", team["ann"])
    assert not may(connect(team["ann"]), send)
    allowed, key, _ = db.execute(ask, (team["ann"],)).fetchone() or ()
    assert (allowed, key) == (False, "queue.q.produce.deny.user")
