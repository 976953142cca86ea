"""howdah access: rules that say who may do what."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from . import output, tables
from .common import Dsn, Json, Role, Wide, Yes, confirm, connected

app = typer.Typer(no_args_is_help=True, help="Manage access rules, which say who may do what with queues and topics.")

RuleSet = Annotated[str | None, typer.Option("--set", metavar="SET", help="Set of rules. [default: that in force]")]
Key = Annotated[
    str,
    typer.Argument(
        metavar="RULE",
        help="Its key, such as queue.q1.produce.deny.user, topic.*.consume.allow.group or connection.ADMIN.allow.user.",
        show_default=False,
    ),
]

COLUMNS = tables.Columns(
    {"resource": "resource", "name": "name", "operation": "operation", "access": "access", "principals": "who"},
    fold=frozenset({"principals"}),
)
SETS = tables.Columns(
    {"name": "set", "rules": "rules", "in_force": "in force", "changed_at": "changed"},
    {"created_at": "created", "created_by": "by"},
)


@app.command()
def show(
    rule_set: RuleSet = None, wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False
) -> None:
    """Show the rules of a set."""
    with connected(dsn, role) as connection:
        chosen = _set_of(connection, rule_set)
        rows = connection.access.rules(chosen)
        enabled = connection.admin.engine_options()["access_enabled"]
    if not as_json:
        output.complain(f"rule set {chosen}{'' if enabled else '; access control is off'}")
        rows = [row | {"access": "allow" if row["allow"] else "deny", "principals": _who(row)} for row in rows]
    tables.show(rows, COLUMNS, as_json=as_json, empty="no rules", wide=wide)


@app.command("set")
def set_(
    rule: Key,
    principals: Annotated[list[str], typer.Argument(metavar="ROLE", help="Roles; * is everybody.", show_default=False)],
    rule_set: RuleSet = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Store a rule, in the place of one with the same key. It holds at once."""
    with connected(dsn, role) as connection:
        chosen = _set_of(connection, rule_set)
        key = connection.access.parse_rule(rule)
        changed = connection.access.set_rule(**key, principals=principals, rule_set=chosen)
    text = f"{rule} set" if changed else f"{rule} was so already"
    output.said(text, as_json=as_json, rule=rule, rule_set=chosen, changed=changed)


@app.command()
def drop(
    rule: Key, rule_set: RuleSet = None, yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False
) -> None:
    """Drop a rule."""
    with connected(dsn, role) as connection:
        key = connection.access.parse_rule(rule)
        chosen = _set_of(connection, rule_set)
        confirm(f"Drop rule {output.printable(rule)}?", yes=yes)
        was = connection.access.drop_rule(**key, rule_set=chosen)
    output.said(f"{rule} dropped" if was else f"there was no rule {rule}", as_json=as_json, rule=rule, dropped=was)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Text with rules; - is stdin.", show_default=False)],
    rule_set: RuleSet = None,
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Make a set of rules what a file says, in the syntax of Sun ONE MQ's accesscontrol.properties."""
    text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    with connected(dsn, role) as connection:
        chosen = _set_of(connection, rule_set)
        confirm(f"Replace the rules of set {output.printable(chosen)}?", yes=yes)
        rules = connection.access.import_rules(text, chosen)
    output.said(f"rule set {chosen} has {output.counted(rules, 'rule')}", as_json=as_json, rule_set=chosen, rules=rules)


@app.command("export")
def export_(rule_set: RuleSet = None, dsn: Dsn = None, role: Role = None) -> None:
    """Print a set of rules in the syntax of Sun ONE MQ's accesscontrol.properties."""
    with connected(dsn, role) as connection:
        output.write(connection.access.export_rules(_set_of(connection, rule_set)).rstrip("\n"))


@app.command()
def explain(
    who: Annotated[str, typer.Argument(metavar="ROLE", help="User or group.", show_default=False)],
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION",
            help="connect, produce, consume, browse, create, admin, pass_all or set_all.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Queue or topic; for connect, NORMAL or ADMIN.", show_default=False),
    ],
    topic: Annotated[bool, typer.Option("--topic", help="NAME is a topic or a subscription.")] = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Tell whether a role may do something, and which rule decides."""
    resource = "connection" if operation == "connect" else "topic" if topic else "queue"
    with connected(dsn, role) as connection:
        facts = connection.access.explain(who, resource, name, operation)
    output.facts(facts, as_json=as_json)


@app.command()
def enable(dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let access rules hold."""
    with connected(dsn, role) as connection:
        connection.admin.alter_engine(access_enabled=True)
    output.said("access control is on", as_json=as_json, access_enabled=True)


@app.command()
def disable(yes: Yes = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """Let no access rule hold. Who may call a function may then use it on every queue and topic."""
    with connected(dsn, role) as connection:
        confirm("Switch access control off?", yes=yes)
        connection.admin.alter_engine(access_enabled=False)
    output.said("access control is off", as_json=as_json, access_enabled=False)


@app.command()
def sets(wide: Wide = False, dsn: Dsn = None, role: Role = None, as_json: Json = False) -> None:
    """List the sets of rules."""
    with connected(dsn, role) as connection:
        rows = connection.access.rule_sets()
    tables.show(rows, SETS, as_json=as_json, empty="no sets", wide=wide)


@app.command("create-set")
def create_set(
    name: Annotated[str, typer.Argument(metavar="SET", help="Its name.", show_default=False)],
    copy_of: Annotated[str | None, typer.Option("--copy-of", metavar="SET", help="Set to copy.")] = None,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Create a set of rules. An empty one allows nothing."""
    with connected(dsn, role) as connection:
        rules = connection.access.create_rule_set(name, copy_of)
    output.said(f"rule set {name} created with {output.counted(rules, 'rule')}", as_json=as_json, rule_set=name)


@app.command("drop-set")
def drop_set(
    name: Annotated[str, typer.Argument(metavar="SET", help="Its name.", show_default=False)],
    yes: Yes = False,
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Drop a set of rules that is not in force."""
    with connected(dsn, role) as connection:
        confirm(f"Drop rule set {output.printable(name)}?", yes=yes)
        rules = connection.access.drop_rule_set(name)
    output.said(
        f"rule set {name} dropped with {output.counted(rules, 'rule')}", as_json=as_json, rule_set=name, rules=rules
    )


@app.command("use")
def use(
    name: Annotated[str, typer.Argument(metavar="SET", help="Its name.", show_default=False)],
    dsn: Dsn = None,
    role: Role = None,
    as_json: Json = False,
) -> None:
    """Put a set of rules in force for the engine."""
    with connected(dsn, role) as connection:
        connection.admin.alter_engine(rule_set=name)
    output.said(f"rule set {name} is in force", as_json=as_json, rule_set=name)


def _set_of(connection: Any, given: str | None) -> str:
    return given if given is not None else str(connection.admin.engine_options()["rule_set"])


def _who(row: dict[str, Any]) -> str:
    """The principals of a rule in words."""
    return f"{row['kind']} " + ", ".join(row["principals"])
