"""What the sample application does with a message, by the message's body."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg

from howdah.workers import Transaction

CURRENT = threading.local()


def wait_for_gate(transaction: Transaction) -> None:
    """Wait on the worker's connection until the test lets go of an advisory lock."""
    transaction.connection.execute("select pg_advisory_xact_lock_shared(7)")


def wait_in_python(transaction: Transaction) -> None:
    """The same without the worker's connection."""
    with psycopg.connect(os.environ["HOWDAH_DSN"], autocommit=True) as outside:
        outside.execute("select pg_advisory_lock_shared(7)")


def wait_for_ever(transaction: Transaction) -> None:
    """Wait in the database, and take a cancel for granted."""
    with contextlib.suppress(psycopg.Error), transaction.connection.transaction():
        transaction.connection.execute("select pg_sleep(3600)")


def wait_for_ever_twice(transaction: Transaction) -> None:
    """One cancel is not enough."""
    wait_for_ever(transaction)
    wait_for_ever(transaction)


def wait_for_ever_in_python(transaction: Transaction) -> None:
    """What nobody can interrupt."""
    threading.Event().wait()


def hold_the_interpreter(transaction: Transaction) -> None:
    """Search for what takes an expression longer than anybody lives: no other thread of the process runs meanwhile."""
    re.match(r"(a|a)*$", "a" * 60 + "b")


def fail(transaction: Transaction) -> None:
    """A bug."""
    raise ValueError("cannot be handled\x00")


def fail_after_gate(transaction: Transaction) -> None:
    """A bug that shows once the test lets go."""
    wait_in_python(transaction)
    fail(transaction)


def fail_in_sql(transaction: Transaction) -> None:
    """A bug that the database finds, which aborts the transaction at once."""
    transaction.connection.execute("select 1 / 0")


def swallow(transaction: Transaction) -> None:
    """A statement error that the handler overlooks."""
    with contextlib.suppress(psycopg.Error):
        transaction.connection.execute("select 1 / 0")


def record_itself(transaction: Transaction) -> None:
    """Record the failure where it is bound to be rolled back, and lock out those who record it properly."""
    transaction.connection.execute("select howdah.record_failure(%s, %s)", (CURRENT.queue, CURRENT.message_id))
    raise ValueError("recorded in vain")


def overcome(transaction: Transaction) -> None:
    """A statement error that the handler rightly overcomes, in a savepoint."""
    with contextlib.suppress(psycopg.Error), transaction.connection.transaction():
        transaction.connection.execute("select 1 / 0")


def roll_back_and_raise(transaction: Transaction) -> None:
    """What a careful application does that knows nothing of workers."""
    try:
        raise ValueError("after a rollback")
    except ValueError:
        transaction.connection.rollback()
        raise


def roll_back_and_go_on(transaction: Transaction) -> None:
    """Its second insert must not be committed without its message."""
    transaction.connection.execute("ROLLBACK")
    transaction.connection.execute("insert into work.effects (message_id, worker) values (-1, 'stray')")


def once(transaction: Transaction, action: Any) -> None:
    """Do something at the first time only, over all processes."""
    with psycopg.connect(os.environ["HOWDAH_DSN"], autocommit=True) as outside:
        first = outside.execute("insert into work.once values (1) on conflict do nothing").rowcount == 1
    if first:
        action()


def lock_time_out(transaction: Transaction) -> None:
    """Give up on a lock at once, which says nothing against the message."""
    with transaction.connection.transaction():
        transaction.connection.execute("set local lock_timeout = '10ms'")
        transaction.connection.execute("lock table work.locked in share mode")


def need_resources(transaction: Transaction) -> None:
    """What the server refuses while the test's table says so: by the code of a full disk."""
    transaction.connection.execute(
        "do $$ begin if exists (select from work.locked) then raise 'no space left' using errcode = '53100'; end if;"
        " end $$"
    )


def sort_too_much(transaction: Transaction) -> None:
    """The same by a limit of the server's own: no temporary file, while the test's table says so."""
    with transaction.connection.transaction():
        transaction.connection.execute("set local work_mem = '64kB'")
        transaction.connection.execute(
            "select set_config('temp_file_limit', case when exists (select"
            " from work.locked) then '0' else '-1' end, true)"
        )
        transaction.connection.execute("select count(*) from (select g from generate_series(1, 20000) g order by -g) o")


def raise_code(state: str) -> Any:
    """A statement that fails with this SQLSTATE."""
    return lambda t: t.connection.execute(f"do $$ begin raise 'x' using errcode = '{state}'; end $$".encode())


def wrapped_serialization_failure() -> None:
    """As SQLAlchemy wraps it."""
    from sqlalchemy.exc import OperationalError

    raise OperationalError("update", {}, psycopg.errors.SerializationFailure("could not serialize"))


class Strange(BaseException):
    """No Exception."""


def strange(transaction: Transaction) -> None:
    """What ends a thread that only expects exceptions."""
    raise Strange("no exception")


def fork_and_terminate(transaction: Transaction) -> None:
    """Start a process by fork and end it, as a pool does."""
    context = multiprocessing.get_context("fork")
    heard, says = context.Pipe()

    def wait() -> None:
        says.send("here")  # before that, Python forgets signals
        for _ in range(1200):
            time.sleep(0.05)  # a signal that comes just before a sleep is seen after it only

    child = context.Process(target=wait)
    child.start()
    if heard.poll(20):
        child.terminate()
    child.join(10)
    code = child.exitcode
    child.kill()
    if code != -signal.SIGTERM:
        raise RuntimeError(f"the process ended with {code}")


def fork_by_hand(transaction: Transaction, inside: Callable[[], object], expected: int) -> None:
    """Fork a process in which the handler goes on as a program would, and wait until it has ended."""
    child = os.fork()
    if child == 0:
        inside()
        return
    late = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > late:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)
    if (code := os.waitstatus_to_exitcode(ended[1])) != expected:
        raise RuntimeError(f"the process ended with {code}")


def violate_at_commit(transaction: Transaction) -> None:
    """Break a deferred constraint, which only the commit notices."""
    transaction.connection.execute("insert into work.checked values (1), (1)")


def terminate_self(transaction: Transaction) -> None:
    """Lose the connection while handling."""
    transaction.connection.execute("select pg_terminate_backend(pg_backend_pid())")


ACTIONS: dict[str, Any] = {
    "note": lambda transaction: None,
    "slow": lambda transaction: time.sleep(0.2),
    "gate": wait_for_gate,
    "gate-python": wait_in_python,
    "gate-fail": fail_after_gate,
    "gate-at-commit": lambda t: t.connection.execute("insert into work.gated values (1)"),
    "fail": fail,
    "swallow-cancel": wait_for_ever_twice,
    "for-ever": wait_for_ever_in_python,
    "hold-interpreter": hold_the_interpreter,
    "fail-in-sql": fail_in_sql,
    "fail-once": lambda t: once(t, lambda: fail(t)),
    "only": lambda transaction: transaction.set_rollback_only(),
    "exit": lambda transaction: sys.exit(3),
    "exit-process": lambda transaction: os._exit(0),
    "strange": strange,
    "swallow": swallow,
    "record-itself": record_itself,
    "overcome": overcome,
    "commit": lambda transaction: transaction.connection.commit(),
    "sql-commit": lambda transaction: transaction.connection.execute("/* all done */ Commit"),
    "hidden-commit": lambda transaction: transaction.connection.execute("select 1; commit; select 2"),
    "rollback-raise": roll_back_and_raise,
    "rollback-go-on": roll_back_and_go_on,
    "close": lambda transaction: transaction.connection.close(),
    "lock-timeout": lock_time_out,
    "serialization": lambda t: once(t, wrapped_serialization_failure),
    "terminate": lambda t: once(t, lambda: terminate_self(t)),
    "violate": violate_at_commit,
    "fork": fork_and_terminate,
    "fork-exit": lambda t: fork_by_hand(t, lambda: sys.exit(3), 3),
    "fork-return": lambda t: fork_by_hand(t, lambda: None, 0),
    "fork-raise": lambda t: fork_by_hand(t, lambda: 1 / 0, 1),
    "disk-full": need_resources,
    "no-room-to-sort": sort_too_much,
    "54000": raise_code("54000"),
    "XX000": raise_code("XX000"),
}
