"""Transactions over two databases: both or none, whatever breaks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from command import howdah
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb
from support import Db, column, one

from howdah.engine import XAConnectionFactory, lookup
from howdah.engine.errors import BadArgument, IllegalState, TransactionRolledBack
from howdah.engine.xa import XAConnection, XATransaction


@dataclass
class Two:
    """Two engines, each with a queue, and a factory over both."""

    dsn: str
    a: Db
    b: Db

    def bodies(self) -> tuple[list[str], list[str]]:
        """What lies in the queues."""
        found = [column(db, "select body from howdah.browse('q')") for db in (self.a, self.b)]
        return found[0], found[1]

    def prepared(self) -> int:
        """How many branches are prepared."""
        gids = "select count(*) from pg_prepared_xacts where database = current_database()"
        return sum(one(db, gids) for db in (self.a, self.b))

    def logged(self) -> list[str | None]:
        """The decisions that the log has."""
        return column(self.a, "select outcome from howdah.xa_transactions")

    def connect(self) -> XAConnection:
        """Connect by the factory."""
        factory: XAConnectionFactory = lookup(self.dsn, "xa/shop")
        return factory.create_connection()


@pytest.fixture
def two(dsn: str, db: Db, new_engine: Callable[[], str]) -> Iterator[Two]:
    if one(db, "show max_prepared_transactions") == "0":
        pytest.skip("max_prepared_transactions is 0 on this server")
    other = new_engine()
    with psycopg.connect(other, autocommit=True) as second:
        for each in (db, second):
            one(each, "select howdah.create_queue('q')")
        for name, where in (("cf/a", dsn), ("cf/b", other)):
            attributes = Jsonb({"dbname": conninfo_to_dict(where)["dbname"]})
            one(db, "select howdah.create_object(%s, 'connection_factory', %s)", (name, attributes))
        members = Jsonb({"members": ["cf/a", "cf/b"]})
        one(db, "select howdah.create_object('xa/shop', 'xa_connection_factory', %s)", (members,))
        made = Two(dsn, db, second)
        yield made
        with made.connect() as connection:
            connection.recover(0)
        assert made.prepared() == 0
        for (name,) in db.execute("select transaction_id from howdah.xa_transactions").fetchall():
            one(db, "select howdah.xa_decide(%s, 'rollback')", (name,))
            one(db, "select howdah.xa_forget(%s)", (name,))


@pytest.mark.behaviour("IMQ-137")
def test_both_databases_commit_or_none_does(two: Two) -> None:
    with two.connect() as connection:
        with connection.transaction() as sessions:
            sessions["cf/a"].send("q", "a1")
            sessions["cf/b"].send_many("q", ["b1", "b2"])
            sessions["cf/b"].send_stream("q", ["b3"])
        assert two.bodies() == (["a1"], ["b1", "b2", "b3"])
        with connection.transaction() as sessions:
            (moved,) = sessions["cf/a"].receive("q", wait=1)
            sessions["cf/b"].send("q", moved.body)
            assert sessions["cf/a"].receive("q") == []
        assert two.bodies() == ([], ["b1", "b2", "b3", "a1"])
        with suppress(ZeroDivisionError), connection.transaction() as sessions:
            sessions["cf/a"].send("q", "a2")
            sessions["cf/b"].receive("q", 9)
            raise ZeroDivisionError
        assert two.bodies() == ([], ["b1", "b2", "b3", "a1"])
        assert (two.prepared(), two.logged()) == (0, [])


def send_to_both(connection: XAConnection, hinder: str | None = None) -> None:
    """Send in one transaction, which one database may refuse to prepare."""
    with connection.transaction() as sessions:
        sessions["cf/a"].send("q", "a")
        sessions["cf/b"].send("q", "b")
        if hinder is not None:
            sessions[hinder].connection.execute("create temporary table hindrance ()")


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-137")
@pytest.mark.parametrize("which", ["cf/a", "cf/b"])
def test_if_one_database_refuses_the_other_rolls_back(two: Two, which: str) -> None:
    with two.connect() as connection:
        with pytest.raises(TransactionRolledBack):
            send_to_both(connection, which)
        assert two.bodies() == ([], [])
        assert (two.prepared(), two.logged()) == (0, [])
        send_to_both(connection)
        assert two.bodies() == (["a"], ["b"])


CRASHES = {
    "before anything is prepared": ("_Branch.prepare", 1, "none"),
    "between the branches": ("_Branch.prepare", 2, "none"),
    "before the decision": ("XATransaction._decided", 1, "none"),
    "after the decision": ("_Branch.end", 1, "both"),
    "after the first branch": ("_Branch.end", 2, "both"),
    "before it is forgotten": ("XATransaction._forget", 1, "both"),
}
QUICK = ("before the decision", "after the decision")

CLIENT = """
import os
from howdah.engine import lookup, xa

def crash(owner, name, at):
    plain, calls = getattr(owner, name), []
    def instead(*arguments):
        calls.append(1)
        if len(calls) == at:
            os._exit(9)
        return plain(*arguments)
    setattr(owner, name, instead)

owner, _, name = {where!r}.partition(".")
crash(getattr(xa, owner), name, {at})
with lookup({dsn!r}, "xa/shop").create_connection() as connection, connection.transaction() as sessions:
    sessions["cf/a"].send("q", "a")
    sessions["cf/b"].send("q", "b")
"""


@pytest.mark.first_case
@pytest.mark.behaviour("IMQ-137")
@pytest.mark.parametrize(
    "crash", [*QUICK, *(pytest.param(crash, marks=pytest.mark.slow) for crash in CRASHES if crash not in QUICK)]
)
def test_wherever_the_client_crashes_recovery_leaves_both_or_none(two: Two, crash: str) -> None:
    where, at, left = CRASHES[crash]
    program = CLIENT.format(where=where, at=at, dsn=two.dsn)
    crashed = subprocess.run([sys.executable, "-c", program], env=os.environ, check=False)
    assert crashed.returncode == 9
    with two.connect() as connection:
        if two.prepared():
            assert connection.recover() == []  # they may be in the hands of a living client
        if crash == "after the first branch":  # by command, as a cron job would
            done = howdah(two.dsn, "object", "recover", "xa/shop", "--older-than", "0", "--json").json
            recovered = [(each["transaction"], each["outcome"]) for each in done]
        else:
            recovered = connection.recover(0)
        assert two.bodies() == ((["a"], ["b"]) if left == "both" else ([], []))
        assert two.prepared() == 0
        if crash == "before anything is prepared":
            assert recovered == []  # an application may still work on it
        else:
            assert [outcome for _, outcome in recovered] == ["commit" if left == "both" else "rollback"]
            assert two.logged() == []
        assert connection.recover(0) == []


@pytest.mark.behaviour("IMQ-137")
def test_a_client_that_recovery_has_overtaken_cannot_commit(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    decided = XATransaction._decided
    with two.connect() as connection, two.connect() as other:

        def late(transaction: XATransaction) -> str:
            assert [outcome for _, outcome in other.recover(0)] == ["rollback"]
            return decided(transaction)

        monkeypatch.setattr(XATransaction, "_decided", late)
        with pytest.raises(TransactionRolledBack):
            send_to_both(connection)
        assert two.bodies() == ([], [])
        assert (two.prepared(), two.logged()) == (0, [])


def test_a_branch_whose_backend_was_killed_is_committed_by_another(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    decided = XATransaction._decided

    def then_kill(transaction: XATransaction) -> str:
        outcome = decided(transaction)
        two.b.execute(
            "select pg_terminate_backend(pid, 20000) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"
        )
        return outcome

    monkeypatch.setattr(XATransaction, "_decided", then_kill)
    with two.connect() as connection:
        send_to_both(connection)
    assert two.bodies() == (["a"], ["b"])
    assert (two.prepared(), two.logged()) == (0, [])


def test_recovery_leaves_transactions_of_other_logs_alone(two: Two) -> None:
    gid = "howdah:xa:00000000-0000-0000-0000-000000000000:00000000-0000-0000-0000-000000000001:0"
    two.b.execute("begin")
    one(two.b, "select howdah.send('q', 'x', notify => false)")
    two.b.execute(f"prepare transaction '{gid}'".encode())
    try:
        with two.connect() as connection:
            assert connection.recover(0) == []
        assert two.prepared() == 1
        listed = two.b.execute("select gid, rolls_back from howdah.list_transactions()").fetchall()
        assert listed == [(gid, False)]
    finally:
        two.b.execute(f"rollback prepared '{gid}'".encode())


def test_only_the_transaction_ends_its_sessions(two: Two) -> None:
    with two.connect() as connection:
        with connection.transaction() as sessions:
            sessions["cf/a"].send("q", "a")
            with pytest.raises(psycopg.ProgrammingError):
                sessions["cf/a"].commit()
            assert list(sessions) == ["cf/a", "cf/b"]
            sessions.rollback()
            with pytest.raises(IllegalState):
                sessions.commit()
        assert two.bodies() == ([], [])
        assert two.logged() == []


def test_answers_and_results_wake_nobody_so_that_their_transaction_can_be_prepared(two: Two) -> None:
    one(two.a, "select howdah.alter_queue('q', '{\"keep_results_ms\": 60000}')")
    one(two.a, "select howdah.create_queue('answers')")
    number = one(two.a, "select howdah.send('q', 'ask', reply_to => 'answers')")
    two.a.execute("select howdah.wait('answers'), howdah.wait_result('q', %s)", (number,))
    with two.connect() as connection, connection.transaction() as sessions:
        (message,) = sessions["cf/a"].receive("q")
        sessions["cf/a"].respond(message, "answer")
        sessions["cf/a"].keep_result(message, 42)
        sessions["cf/b"].send("q", "b1")
    assert column(two.a, "select body from howdah.browse('answers')") == ["answer"]
    assert one(two.a, "select value from howdah.result('q', %s)", (number,)) == 42


def test_members_are_connection_factories(two: Two) -> None:
    attributes: Any = Jsonb({"members": ["xa/shop"]})
    one(two.a, "select howdah.create_object('xa/wrong', 'xa_connection_factory', %s)", (attributes,))
    with pytest.raises(BadArgument):
        lookup(two.dsn, "xa/wrong")


def test_a_statement_that_failed_in_one_database_undoes_both_though_its_error_was_caught(two: Two) -> None:
    def scenario(xa: XAConnection) -> None:
        with xa.transaction() as sessions:
            for name in ("cf/a", "cf/b"):
                sessions[name].send("q", "x")
            with suppress(psycopg.errors.DivisionByZero):
                sessions["cf/b"].connection.execute("select 1 / 0")

    with two.connect() as xa:
        with pytest.raises(TransactionRolledBack, match="a statement of the transaction had failed"):
            scenario(xa)
        assert two.bodies() == ([], [])
        assert (two.prepared(), two.logged()) == (0, [])
