"""Calls of every public function with hostile arguments, by every role at every isolation level, and their outcomes.

HOWDAH_TEST_SEED repeats a run (chance.py), HOWDAH_TEST_FUZZ says how many calls are made.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import psycopg
from fuzz_values import World
from fuzz_world import furnish, look
from hostile_values import Value
from psycopg import sql
from support import Connect, Db, column

from howdah.engine import errors

ROLES = (
    "howdah_admin",
    "howdah_producer",
    "howdah_consumer",
    "howdah_browser",
    "howdah_auditor",
    "pg_signal_backend",
)
"""Howdah's, and one that is granted nothing of Howdah."""

BEGINNINGS = (
    "begin isolation level read committed",
    "begin isolation level repeatable read",
    "begin isolation level read committed read only",
    "begin isolation level repeatable read read only",
)
ALLOWED = frozenset({"00000", "42501", "25006", "40001", "57014", "55P03"})
"""Besides our own: no error, no right to call it, a read-only transaction, one that must be repeated, and timeouts."""

OURS = frozenset(
    kind.sqlstate
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.HowdahError) and (kind.sqlstate or "").startswith("HD")
)
"""The documented errors of Howdah's own."""

SPOILING = re.compile("drop_|pause|purge_|unsubscribe|alter_engine|alter_listener|stop_|cancel_|revoke_|rebase_")
"""Functions after which many others have nothing to do any more: most of their calls are rolled back."""


def count() -> int:
    """How many calls to make."""
    return int(os.environ.get("HOWDAH_TEST_FUZZ") or 1000)


@dataclass(frozen=True)
class Function:
    """A public function: its name, its arguments' names and types, how many must be given, and who may call it."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    needed: int
    roles: tuple[str, ...]

    def call(self, given: dict[str, Value]) -> tuple[str, list[Value]]:
        """The statement and its parameters."""
        kinds = dict(self.arguments)
        listed = ", ".join(f'"{name}" => %s::{kinds[name]}' for name in given)
        return f"select * from howdah.{self.name}({listed})", list(given.values())


@dataclass
class Found:
    """What came of the calls."""

    states: Counter[str] = field(default_factory=Counter)
    called: set[str] = field(default_factory=set)
    #: Of wrong errors the first one for each function and SQLSTATE.
    wrong: dict[tuple[str, str], str] = field(default_factory=dict)


def functions(db: Db) -> list[Function]:
    """All public functions, each overload by itself."""
    rows = db.execute(
        "select p.proname::text, p.proargnames[1:p.pronargs],"
        " array(select format_type(u.t, null) from unnest(p.proargtypes::oid[]) with ordinality u(t, o) order by u.o),"
        " p.pronargs - p.pronargdefaults, array(select r from unnest(%s::text[]) r"
        " where has_function_privilege(r, p.oid, 'execute'))"
        " from pg_proc p where p.pronamespace = 'howdah'::regnamespace and p.proname !~ '^_'"
        " order by p.oid::regprocedure::text",
        (list(ROLES),),
    ).fetchall()
    return [
        Function(name, tuple(zip(names or (), kinds, strict=True)), needed, tuple(roles))
        for name, names, kinds, needed, roles in rows
        if roles
    ]


class Fuzz:
    """Calls on one database; what they change is kept now and then."""

    def __init__(self, connect: Connect, dice: random.Random) -> None:
        self._connect = connect
        self._dice = dice
        self._sessions: dict[str, Db] = {}
        connect("howdah_admin")  # skips where there is but one role
        self._db = connect()
        self.functions = functions(self._db)
        self.found = Found()

    def run(self, calls: int) -> None:
        """Make so many calls, in an order of chance.

        Each argument of each function gets its turn with each of its values.
        """
        cases: Iterator[tuple[Function, str, Value]] = iter(())
        for number in range(calls):
            if number % 500 == 0:
                furnish(self._db)
                world = look(self._db)
            case = next(cases, None)
            if case is None:
                cases = self._cases(world)
                case = next(cases)
            self._call(world, *case)
        for session in self._sessions.values():
            session.close()

    def _cases(self, world: World) -> Iterator[tuple[Function, str, Value]]:
        # Several of chance's choice for each function, at first: so a short run leaves none out.
        first = [(function, "", None) for function in self.functions for _ in range(4)]
        then = [
            (function, name, value)
            for function in self.functions
            for name, kind in function.arguments
            for value in world.hostile(self._dice, function.name, name, kind)
        ]
        self._dice.shuffle(first)
        self._dice.shuffle(then)
        return iter([*first, *then])

    def _call(self, world: World, function: Function, hostile: str, value: Value) -> None:
        dice = self._dice
        given: dict[str, Value] = {}
        place = dice.choice(world.places)
        for number, (name, kind) in enumerate(function.arguments):
            if name == hostile:
                given[name] = value
            elif hostile == "" and dice.random() < 0.25:
                given[name] = dice.choice(world.hostile(dice, function.name, name, kind))
            elif number < function.needed or dice.random() < 0.15:
                given[name] = world.sound(dice, name, kind, place)
        role = dice.choice(function.roles if dice.random() < 0.9 else ROLES)
        beginning = dice.choice(BEGINNINGS) if dice.random() < 0.4 else BEGINNINGS[0]
        kept = dice.random() < (0.05 if SPOILING.match(function.name) else 0.6)
        state, text = self._run(role, beginning, kept, *function.call(given))
        self.found.states[state] += 1
        self.found.called.add(function.name)
        if state not in ALLOWED and state not in OURS:
            shown = ", ".join(f"{name} => {(v or 'NULL')[:120]!r}" for name, v in given.items())
            said = f"{text} | {role}, {beginning}: {function.name}({shown})"
            self.found.wrong.setdefault((function.name, state), said)

    def _run(self, role: str, beginning: str, kept: bool, statement: str, values: Sequence[Value]) -> tuple[str, str]:
        session = self._sessions.get(role)
        if session is None or session.closed:
            session = self._sessions[role] = self._connect(role)
            session.prepare_threshold = None
            session.execute("set statement_timeout = '400ms'; set lock_timeout = '200ms'")
        try:
            session.execute(beginning.encode())
            session.execute(statement.encode(), values)
            session.execute("commit" if kept else "rollback")
        except psycopg.Error as error:
            session.rollback()
            return error.sqlstate or "none", f"{error.sqlstate} {error}"[:600]
        return "00000", ""


def unaccounted(db: Db, sent: Sequence[int]) -> list[int]:
    """Messages, of those and of all that the journal says were sent to queues, that neither are there nor ended."""
    return column(
        db,
        "with sent as (select unnest(%s::bigint[]) as message_id union"
        "   select j.message_id from howdah.audit_journal j join howdah.audit_destinations d using (destination_id)"
        "   where j.event = 'sent' and d.kind = 'queue')"
        " select s.message_id from sent s"
        " where not exists (select from howdah.audit_messages m where m.message_id = s.message_id)"
        "   and not exists (select from howdah.audit_journal j where j.message_id = s.message_id"
        "                   and j.event in ('consumed', 'expired', 'discarded', 'lost')) order by 1",
        (list(sent),),
    )


def unreadable(db: Db) -> list[str]:
    """Lists and views that a client cannot read because of what somebody put in."""
    lists = column(
        db,
        "select p.proname || '()' from pg_proc p where p.pronamespace = 'howdah'::regnamespace"
        " and p.pronargs = p.pronargdefaults"
        " and (p.proname ~ '^list_' or p.proname in ('queue_stats', 'resource_state', 'incidents',"
        " 'poison_causes', 'check_server', 'health'))"
        " union all select relname from pg_class where relnamespace = 'howdah'::regnamespace"
        " and relkind = 'v' order by 1",
    )
    found = []
    for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
        db.execute("select set_config('TimeZone', %s, false)", (zone,))
        for name in lists:
            try:
                db.execute(f"select * from howdah.{name}".encode()).fetchall()
            except psycopg.Error as error:
                found.append(f"{name}: {error}")
    return found


def unusual(db: Db) -> list[str]:
    """What howdah check says of more than this server and the options that an administrator may set."""
    usual = "^(engine|destination .*|audit|profile)$|^[a-z_]+$"
    return column(
        db, "select concat_ws(', ', setting, value, advice) from howdah.check_server() where setting !~ %s", (usual,)
    )


def stored_times_that_nobody_can_read(db: Db) -> list[str]:
    """Columns of Howdah's tables with a time before 1970, after 9999 or infinite."""
    found = []
    for table, name in db.execute(
        "select a.attrelid::regclass::text, a.attname::text from pg_attribute a join pg_class c on c.oid = a.attrelid"
        " where c.relnamespace = 'howdah'::regnamespace and c.relkind in ('r', 'p')"
        " and a.atttypid = 'timestamptz'::regtype"
        " and not a.attisdropped and not c.relispartition order by 1, 2"
    ).fetchall():
        asked = sql.SQL("select count(*) from {} where not howdah._is_readable({})")
        (number,) = db.execute(asked.format(sql.SQL(table), sql.Identifier(name))).fetchone() or (0,)
        if number:
            found.append(f"{table}.{name}: {number}")
    return found
