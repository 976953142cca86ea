"""howdah access and howdah user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from command import howdah, refused
from psycopg.conninfo import make_conninfo
from support import Db, identifier, one

from howdah.engine.admin.users import Users
from howdah.engine.database.runner import run

RULE = "queue.orders.produce.deny.user"


@pytest.fixture
def name(db: Db) -> Iterator[Callable[[str], str]]:
    """Names of roles that end with the test."""
    if not one(db, "select rolcreaterole from pg_roles where rolname = current_user"):
        pytest.skip("only who may create roles creates users")
    made: list[str] = []

    def make(stem: str) -> str:
        made.append(f"{stem}_{db.info.dbname[-12:]}")
        return made[-1]

    yield make
    for role in reversed(made):
        db.execute(psycopg.sql.SQL("drop role if exists {}").format(identifier(role)))


def test_set_show_explain_and_drop_a_rule(dsn: str) -> None:
    howdah(dsn, "queue", "create", "orders")
    assert howdah(dsn, "access", "set", RULE, "howdah_producer").out == f"{RULE} set\n"
    assert howdah(dsn, "access", "set", RULE, "howdah_producer").out == f"{RULE} was so already\n"
    shown = howdah(dsn, "access", "show")
    assert "rule set default" in shown.err
    assert any(line.split()[:4] == ["queue", "orders", "produce", "deny"] for line in shown.out.splitlines())
    explained = howdah(dsn, "access", "explain", "howdah_producer", "produce", "orders", "--json").json
    assert (explained["allowed"], explained["rule"]) == (False, RULE)
    assert howdah(dsn, "access", "drop", RULE, "--yes").out == f"{RULE} dropped\n"
    assert howdah(dsn, "access", "drop", RULE, "--yes").out == f"there was no rule {RULE}\n"
    explained = howdah(dsn, "access", "explain", "howdah_producer", "produce", "orders", "--json").json
    assert (explained["allowed"], explained["rule"]) == (True, "queue.*.produce.allow.group")


def test_export_and_import_a_set_put_it_in_force_and_drop_it(dsn: str, tmp_path: Path) -> None:
    text = howdah(dsn, "access", "export").out
    file = tmp_path / "rules"
    file.write_text(text + "queue.create.allow.user=*\n")
    assert howdah(dsn, "access", "import", str(file), "--set", "mine", "--yes").out == "rule set mine has 13 rules\n"
    assert howdah(dsn, "access", "use", "mine").out == "rule set mine is in force\n"
    sets = howdah(dsn, "access", "sets", "--json").json
    assert [(row["name"], row["in_force"]) for row in sets] == [("default", False), ("mine", True)]
    refused(howdah(dsn, "access", "drop-set", "mine", "--yes"), "is in force")
    howdah(dsn, "access", "use", "default")
    assert howdah(dsn, "access", "drop-set", "mine", "--yes").out == "rule set mine dropped with 13 rules\n"
    made = howdah(dsn, "access", "create-set", "copy", "--copy-of", "default")
    assert made.out == "rule set copy created with 12 rules\n"
    file.write_text("queue.q1.produce.allow\n")
    refused(howdah(dsn, "access", "import", str(file), "--yes"), "line 1 is no access rule")


def test_switch_access_control_off_and_on(dsn: str) -> None:
    assert howdah(dsn, "access", "disable", "--yes").out == "access control is off\n"
    assert "access control is off" in howdah(dsn, "access", "show").err
    assert howdah(dsn, "access", "enable").out == "access control is on\n"


@pytest.mark.parametrize("rule", ["orders", "queue.produce.allow.user", "queue.q.connect.allow.user", "connection.X"])
def test_what_is_no_rule_is_refused(dsn: str, rule: str) -> None:
    refused(howdah(dsn, "access", "set", rule, "tom"), f"'{rule}' is no key of a rule")


@pytest.mark.behaviour("IMQ-58")
def test_create_users_and_groups_and_drop_them(dsn: str, tmp_path: Path, name: Callable[[str], str]) -> None:
    tom, staff = name("tom"), name("staff")
    secret = tmp_path / "secret"
    secret.write_text("first word\n")
    secret.chmod(0o600)
    assert howdah(dsn, "user", "group", staff).out == f"group {staff}: created\n"
    made = howdah(dsn, "user", "create", tom, "--group", staff, "--password-file", str(secret))
    assert made.out == f"user {tom} created\n"
    rows = {row["name"]: row for row in howdah(dsn, "user", "list", "--json").json}
    assert (rows[tom]["login"], rows[tom]["groups"], rows[staff]["login"]) == (True, [staff], False)
    psycopg.connect(make_conninfo(dsn, user=tom, password="first word")).close()
    secret.write_text("second word\n")
    assert howdah(dsn, "user", "password", tom, "--password-file", str(secret)).out == f"password of {tom} changed\n"
    psycopg.connect(make_conninfo(dsn, user=tom, password="second word")).close()
    assert howdah(dsn, "user", "group", staff, "--remove", tom).out == f"group {staff}: {tom} removed\n"
    assert howdah(dsn, "user", "group", staff, "--add", tom).out == f"group {staff}: {tom} added\n"
    for role in (tom, staff):
        assert howdah(dsn, "user", "drop", role, "--yes").out == f"role {role} dropped\n"
    record = howdah(dsn, "changes", "list", "--kind", "user", "--json")
    assert [(row["act"], row["name"]) for row in reversed(record.json)] == [
        ("created", staff),
        ("created", tom),
        ("altered", tom),
        ("altered", tom),
        ("altered", tom),
        ("dropped", tom),
        ("dropped", staff),
    ]
    assert "word" not in record.out.replace("password", "")


def test_a_group_that_cannot_have_all_of_its_users_is_not_made(dsn: str, db: Db, name: Callable[[str], str]) -> None:
    tom, staff, others = name("tom"), name("staff"), name("others")
    assert howdah(dsn, "user", "create", tom, "--no-password").code == 0
    refused(howdah(dsn, "user", "group", staff, "--add", tom, "--add", f"{tom}typo"), f"{tom}typo")
    assert staff not in {row["name"] for row in howdah(dsn, "user", "list", "--json").json}
    assert howdah(dsn, "user", "group", others, "--add", tom).code == 0
    refused(howdah(dsn, "user", "group", others, "--remove", tom, "--remove", f"{tom}typo"), f"{tom}typo")
    rows = {row["name"]: row for row in howdah(dsn, "user", "list", "--json").json}
    assert rows[tom]["groups"] == [others]
    record = howdah(dsn, "changes", "list", "--kind", "user", "--json").json
    assert [row["name"] for row in reversed(record)] == [tom, others, tom]


def test_a_user_that_is_not_there_is_refused_by_name(dsn: str, name: Callable[[str], str]) -> None:
    tom = name("tom")
    for words in (("drop", tom, "--yes"), ("create", name("tim"), "--group", tom, "--no-password")):
        refused(howdah(dsn, "user", *words), f'howdah: role "{tom}" does not exist')


def test_the_server_and_its_log_get_a_password_as_a_hash_alone(dsn: str, db: Db, name: Callable[[str], str]) -> None:
    tom = name("tom")
    logged: list[str] = []
    with psycopg.connect(dsn, autocommit=True) as session:
        session.add_notice_handler(lambda notice: logged.append(str(notice.message_primary)))
        session.execute("set client_min_messages = log; set log_statement = 'all'; set log_min_duration_statement = 0")
        users = Users(lambda call: run(session, call))
        users.create(tom, "plain as day")
        users.set_password(tom, "plain as night")
    assert any(f'create role "{tom}"' in line for line in logged)
    assert "plain" not in "".join(logged)
    assert one(db, "select rolpassword ^@ 'SCRAM-SHA-256$' from pg_authid where rolname = %s", (tom,)) is True
    psycopg.connect(make_conninfo(dsn, user=tom, password="plain as night")).close()


def test_a_password_that_others_may_read_or_that_comes_from_nowhere_is_refused(dsn: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("open\n")
    secret.chmod(0o640)
    refused(howdah(dsn, "user", "create", "tom", "--password-file", str(secret)), "mode 0640, not 0600")
    refused(howdah(dsn, "user", "create", "tom", "--password-file", str(tmp_path / "none")), "No such file")
    refused(howdah(dsn, "user", "create", "tom"), "stdin is no terminal", code=2)
    assert "--password " not in howdah(dsn, "user", "create", "--help").out
