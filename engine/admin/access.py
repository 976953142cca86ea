# Written by tools/make_sync.py from engine/aio/admin/access.py: change that, and run make sync.
"""Access rules: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..calls import Rows, scalar, table
from ..calls.columns import EXPLANATION_COLUMNS, RULE_COLUMNS, RULE_SET_COLUMNS
from ..calls.verbs import Verbs


class Access(Verbs):
    """The verbs of access rules over anything that runs a call, each in its own transaction."""

    def set_rule(
        self,
        resource: str,
        name: str,
        operation: str,
        *,
        allow: bool,
        kind: str,
        principals: Sequence[str],
        rule_set: str = "default",
    ) -> bool:
        """Store a rule in the place of one with the same key. Returns whether that changed anything.

        ``resource`` is connection, queue or topic; ``kind`` is user or group; ``*`` is every name, or everybody.
        Raises BadArgument.
        """
        key = _key(rule_set, resource, name, operation, allow, kind)
        return self._run(scalar("set_rule", **key, principals=("text[]", [*principals])).then(bool))

    def drop_rule(
        self, resource: str, name: str, operation: str, *, allow: bool, kind: str, rule_set: str = "default"
    ) -> bool:
        """Drop a rule. Returns whether there was one."""
        return self._run(scalar("drop_rule", **_key(rule_set, resource, name, operation, allow, kind)).then(bool))

    def parse_rule(self, key: str) -> dict[str, Any]:
        """Return the parts of a rule's key, such as queue.q1.produce.deny.user, by their names. Raises BadArgument."""
        rows = self._run(table("parse_rule", "resource, name, operation, allow, kind", key=("text", key)))
        return dict(rows[0])

    def rules(self, rule_set: str = "default") -> Rows:
        """Return the rules of a set. Raises BadArgument if there is none of that name."""
        return self._run(table("list_rules", RULE_COLUMNS, rule_set=("text", rule_set)))

    def import_rules(self, rules: str, rule_set: str = "default") -> int:
        """Make a set what a text in the syntax of properties says. Returns how many rules. Raises BadArgument."""
        return self._run(scalar("import_rules", rule_set=("text", rule_set), rules=("text", rules)).then(int))

    def export_rules(self, rule_set: str = "default") -> str:
        """Return a set as text that ``import_rules`` takes."""
        return self._run(scalar("export_rules", rule_set=("text", rule_set)).then(str))

    def create_rule_set(self, name: str, copy_of: str | None = None) -> int:
        """Create a set, empty or as a copy. Returns the number of its rules."""
        return self._run(scalar("create_rule_set", name=("text", name), copy_of=("text", copy_of)).then(int))

    def drop_rule_set(self, name: str) -> int:
        """Drop a set that is not in force. Returns the number of its rules."""
        return self._run(scalar("drop_rule_set", name=("text", name)).then(int))

    def rule_sets(self) -> Rows:
        """Return the sets of rules, and which are in force."""
        return self._run(table("list_rule_sets", RULE_SET_COLUMNS))

    def explain(self, role: str, resource: str, name: str, operation: str) -> dict[str, Any]:
        """Return whether a role may do something, and which rule decides: allowed, rule, principal, rule_set, why."""
        arguments = {"role": role, "resource": resource, "name": name, "operation": operation}
        rows = self._run(
            table("explain_access", EXPLANATION_COLUMNS, **{key: ("text", value) for key, value in arguments.items()})
        )
        return rows[0]


def _key(rule_set: str, resource: str, name: str, operation: str, allow: bool, kind: str) -> dict[str, tuple[str, Any]]:
    return {
        "rule_set": ("text", rule_set),
        "resource": ("text", resource),
        "name": ("text", name),
        "operation": ("text", operation),
        "allow": ("boolean", allow),
        "kind": ("text", kind),
    }
