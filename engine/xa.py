"""Transactions over several databases: all or none commit, whatever breaks (two-phase commit, presumed abort).

A log in the first database says which transactions there are. All branches are prepared, then the decision is committed
to the log, then the branches are committed. After a crash, ``recover`` ends what was left as the log says.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Self

import psycopg

from .calls import xa
from .connection import Connection
from .errors import BadArgument, ConnectionLost, HowdahError, IllegalState, NotAllowed, TransactionRolledBack
from .factory import ConnectionFactory
from .sessions.session import Session

log = logging.getLogger("howdah.xa")

ABANDONED = timedelta(days=1)
"""Up to this age, an application may still work on a transaction without branches."""


class XAConnectionFactory:
    """A factory that is looked up by name. It connects to its members, each a database of its own."""

    def __init__(self, name: str, members: Mapping[str, ConnectionFactory], open_log: Callable[[], Connection]) -> None:
        """open_log: connects to the first member's database, for the log."""
        self.name = name
        self.members = dict(members)
        self._open_log = open_log

    def create_connection(self) -> XAConnection:
        """Connect to all members. Raises as ``connect``."""
        opened: dict[str, Connection] = {}
        try:
            journal = self._open_log()
            opened[""] = journal
            for name, factory in self.members.items():
                opened[name] = factory.create_connection()
                opened[name].start()
        except BaseException:
            for connection in opened.values():
                connection.close()
            raise
        del opened[""]
        return XAConnection(self.name, opened, journal)


class XAConnection:
    """A connection to each member."""

    def __init__(self, factory: str, connections: dict[str, Connection], journal: Connection) -> None:
        self.factory = factory
        #: By the members' names.
        self.connections = connections
        self._log = journal

    @contextmanager
    def transaction(self) -> Iterator[XATransaction]:
        """Begin a transaction in each database. The block's end commits all or none; an exception rolls back.

        ``rollback`` of the block's transaction also undoes all. A load by COPY makes a temporary table, which no
        database prepares. Raises TransactionRolledBack if one database refuses. Raises ConnectionLost if it is not
        known what was decided: then ``recover`` finds out.
        """
        transaction = XATransaction(self._log, self._log.call(xa.begin(self.factory)))
        try:
            for number, (name, connection) in enumerate(self.connections.items()):
                transaction.join(name, connection, number)
            try:
                yield transaction
            except BaseException:
                if not transaction.ended:
                    transaction.rollback()
                raise
            if not transaction.ended:
                transaction.commit()
        finally:
            transaction.close()

    def recover(self, older_than: float = 60) -> list[tuple[str, str]]:
        """End what crashed clients left. Returns the transactions and their outcomes.

        older_than: seconds for which a branch has been prepared. Younger ones may be in the hands of a living client,
        whose commit would be refused.

        Only what this role prepared is ended, or all for a superuser. Raises CannotConnect if a database is away.
        """
        least = timedelta(seconds=older_than)
        branches: dict[str, list[tuple[Connection, xa.Prepared]]] = {}
        for connection in self.connections.values():
            for found in connection.call(xa.prepared()):
                branches.setdefault(found.transaction_id, []).append((connection, found))
        known = {one.transaction_id: one for one in self._log.call(xa.logged(self.factory)) if one.mine}
        done = []
        for name in sorted(branches.keys() | known.keys()):
            left, one = branches.get(name, []), known.get(name)
            young = any(found.age < least for _, found in left)
            undecided = one is not None and one.outcome is None and not left and one.age < ABANDONED
            recent = one is not None and not left and one.outcome is not None and one.age < least
            if young or undecided or recent:
                continue
            outcome = self._resolve(name, left)
            if outcome is not None:
                done.append((name, outcome))
        return done

    def _resolve(self, name: str, branches: list[tuple[Connection, xa.Prepared]]) -> str | None:
        """End the branches of one transaction. None: another factory's log has it, or it is another role's."""
        try:
            outcome = self._log.call(xa.decide(name, "rollback"))
            for connection, found in branches:
                connection.call(xa.end(found.gid, outcome))
        except (BadArgument, NotAllowed, psycopg.errors.InsufficientPrivilege) as error:
            log.warning("transaction %s is not ours to end: %s", name, error)
            return None
        self._log.call(xa.forget(name))
        log.info("transaction %s was ended by recovery: %s", name, outcome)
        return outcome

    def close(self) -> None:
        """Close all."""
        for connection in [*self.connections.values(), self._log]:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class XATransaction(Mapping[str, Session]):
    """The sessions of a transaction, by the names of the members. They neither commit nor roll back themselves."""

    def __init__(self, journal: Connection, transaction_id: str) -> None:
        self.transaction_id = transaction_id
        self._log = journal
        self._branches: dict[str, _Branch] = {}
        #: Whether it was committed or rolled back.
        self.ended = False

    def join(self, name: str, connection: Connection, number: int) -> None:
        """Begin the branch of one database."""
        self._branches[name] = _Branch(connection, f"{self.transaction_id}:{number}")

    def __getitem__(self, name: str) -> Session:
        return self._branches[name].session

    def __iter__(self) -> Iterator[str]:
        return iter(self._branches)

    def __len__(self) -> int:
        return len(self._branches)

    def commit(self) -> None:
        """Commit all or none."""
        self._end()
        try:
            for branch in self._branches.values():
                branch.prepare()
        except (HowdahError, psycopg.Error) as error:
            self._undo()
            raise TransactionRolledBack(f"a database refused its part: {error}") from error
        if self._decided() != "commit":
            self._undo()
            raise TransactionRolledBack("recovery had decided to roll this transaction back")
        self._end_branches("commit")

    def _decided(self) -> str:
        """The decision that stands, once it is on record. Raises ConnectionLost if that is not known."""
        try:
            return self._log.call(xa.decide(self.transaction_id, "commit"))
        except ConnectionLost:  # ask again: the answer is the same
            return self._log.call(xa.decide(self.transaction_id, "commit"))

    def rollback(self) -> None:
        """Roll back every branch."""
        self._end()
        self._undo()

    def _end(self) -> None:
        if self.ended:
            raise IllegalState("the transaction has ended")
        self.ended = True

    def _undo(self) -> None:
        with suppress(HowdahError, psycopg.Error):  # recovery does what fails here: no decision means rollback
            self._log.call(xa.decide(self.transaction_id, "rollback"))
            self._end_branches("rollback")

    def _end_branches(self, how: str) -> None:
        done = [branch.end(how) for branch in self._branches.values()]
        if all(done):
            self._forget()
        else:
            log.warning("%s: %s, but a database is away: recover() ends its part", self.transaction_id, how)

    def _forget(self) -> None:
        with suppress(HowdahError, psycopg.Error):
            self._log.call(xa.forget(self.transaction_id))

    def close(self) -> None:
        """Give the connections back. Prepared branches that have not ended stay prepared."""
        for branch in self._branches.values():
            branch.close()


class _Branch:
    """The part of a transaction in one database."""

    def __init__(self, connection: Connection, gid: str) -> None:
        self._connection = connection
        self._gid = gid
        self._is_prepared = False
        self._was_refused = False
        self.session = connection.session()
        self._raw: psycopg.Connection[Any] = self.session.connection
        self._raw.tpc_begin(gid)

    def prepare(self) -> None:
        """Prepare it: from now on, it commits if it is told to, whatever happens."""
        self._was_refused = True
        if self._raw.info.transaction_status is psycopg.pq.TransactionStatus.INERROR:
            # PostgreSQL answers PREPARE TRANSACTION by ROLLBACK then, which the driver takes for success.
            raise TransactionRolledBack("a statement of the transaction had failed")
        self._raw.tpc_prepare()
        self._is_prepared, self._was_refused = True, False

    def end(self, how: str) -> bool:
        """Commit or roll back. Returns whether that is done, and not left to recovery."""
        try:
            if self._raw.closed:
                self._connection.run(xa.end(self._gid, how))
            elif how == "commit":
                self._raw.tpc_commit()
            elif self._was_refused:
                self._raw.close()  # the server has rolled back, which the driver does not know
            else:
                self._raw.tpc_rollback()
        except (HowdahError, psycopg.Error) as error:
            log.warning("%s prepared %s: %s", how, self._gid, error)
            return self._again(how)
        return True

    def _again(self, how: str) -> bool:
        """Once more, by another connection."""
        try:
            self._connection.run(xa.end(self._gid, how))
        except (HowdahError, psycopg.Error):
            return False
        return True

    def close(self) -> None:
        """Give the connection back."""
        if not self._raw.closed and self._raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            self._raw.close()
        self.session.close()
