"""Steps of jms_machine.py that open and close consumers; and who receives, if a queue tells its consumers apart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from hypothesis import strategies as st
from jms_messages import Message, Session
from jms_sending import Sending
from jms_sessions import SESSIONS, Sessions, index, sessions, step
from jms_turns import Consumer, Turn
from support import Db, one, refused


def told_apart(machine: Sessions) -> bool:
    return machine.consumers


def some_consumers(machine: Sessions) -> bool:
    return bool(machine.model.visible(None))


class Consuming(Sending):
    """Consumers of each session, some of which live with it, some exclusive, some silent for too long."""

    @step(
        told_apart,
        session=sessions,
        own_session=st.booleans(),
        exclusive=st.sampled_from([False, False, True]),
        priority=st.sampled_from([0, 0, 5]),
        timeout=st.sampled_from([20, 60, 600]),
    )
    def open_consumer(self, session: int, own_session: bool, exclusive: bool, priority: int, timeout: int) -> None:
        if not self.sessions[session].open and len(self.model.visible(None)) < 2 * SESSIONS:
            self._open_consumer(session, own_session, exclusive, priority, timeout)

    def _open_consumer(
        self, session: int, own_session: bool, exclusive: bool = False, priority: int = 0, timeout: int = 60
    ) -> Consumer | None:
        """None: the queue takes a single one and has it.

        Whoever is gone is closed first, unless a transaction is just closing it.
        """
        if self.model.policy == "single" and any(not self.model.is_gone(c) for c in self.model.visible(None)):
            refused(self.connections[session], "HD033", "select howdah.open_consumer(%s)", (self.queue,))
            return None
        there = self.sessions[session]
        self.model.close_gone(there)
        base = one(
            self.side,
            "select coalesce(pg_sequence_last_value(d.positions), 0) from howdah.destinations d where d.name = %s",
            (self.queue,),
        )
        number = one(
            self.connections[session],
            "select howdah.open_consumer(%s, exclusive => %s, priority => %s, own_session => %s, timeout => %s)",
            (self.queue, exclusive, priority, own_session, timedelta(seconds=timeout)),
        )
        consumer = Consumer(
            number, session, own_session, exclusive, priority, timedelta(seconds=timeout), self.model.now, base
        )
        self.model.consumers.append(consumer)
        self.model.commit(there)
        return consumer

    @step(some_consumers, at=index)
    def close_consumer(self, at: int) -> None:
        consumer: Consumer = self._pick(at, self.model.consumers)
        if consumer.closing or consumer.locker or (self.model.sticky and any(s.received for s in self.sessions)):
            return  # it would wait for a transaction
        own = consumer.own_session and consumer.alive and not self.sessions[consumer.session].open
        connection = self.connections[consumer.session] if own else self.side
        closed = one(connection, "select howdah.close_consumer(%s)", (consumer.number,))
        assert closed is not consumer.closed, f"{consumer}"
        consumer.closed = True

    @step(some_consumers)
    def renew_consumers(self) -> None:
        """Those whose transaction is at it are passed by: that keeps them alive."""
        known = self.model.visible(None)
        rows = self.side.execute(
            "select * from howdah.renew_consumers(%s)", ([c.number for c in self.model.consumers],)
        ).fetchall()
        assert {number for (number,) in rows} == {c.number for c in known}
        for consumer in known:
            if not consumer.closing and not consumer.locker:
                consumer.seen = self.model.now

    @step(lambda self: any(c.own_session and c.alive for c in self.model.visible(None)), at=index)
    def kill_consumer(self, at: int) -> None:
        """The session of a consumer dies, whether in a transaction or not."""
        self._kill(self._pick(at, [c.session for c in self.model.visible(None) if c.own_session and c.alive]))

    @step(some_consumers)
    def list_consumers(self) -> None:
        rows = self.side.execute(
            "select consumer, active, exclusive, own_session, groups from howdah.list_consumers(%s)", (self.queue,)
        ).fetchall()
        known = self.model.visible(None)
        active = self.model.active(self.own)
        assert [row[:4] for row in rows] == [
            (c.number, active in (None, c), c.exclusive, c.own_session) for c in sorted(known, key=lambda c: c.number)
        ]
        if not any(s.received for s in self.sessions):
            owned = [owner for owner in self.model.owners.values() if owner]
            assert {row[0]: row[4] for row in rows} == {c.number: owned.count(c) for c in known}

    def _whose(self, session: int, at: int) -> Consumer | None:
        """A consumer of the session, now and then none or one that is closed; it opens one if it can and has none."""
        if not self.consumers or at % 8 == 7:
            return None
        there = self.sessions[session]
        # Whoever is being closed by a transaction waits for that.
        mine = [c for c in self.model.consumers if c.session == session and c.closing in (None, there)]
        closed = [c for c in mine if c.closed]
        mine = [c for c in mine if not c.closed]
        if at % 8 == 6 and closed:
            return closed[-1]
        if not mine and not there.open and (self.model.tells_apart or at % 2):
            return self._open_consumer(session, own_session=at % 3 > 0)
        return self._pick(at, mine) if mine else None

    def _turn(self, connection: Db, session: Session, consumer: Consumer | None) -> Turn:
        """What the model says of a receive that is about to be; refused ones are tried here."""
        turn = self.model.turn(session, consumer)
        if turn.refused:
            number = consumer and consumer.number
            for verb in ("receive", "lease"):
                refused(connection, "HD032", f"select howdah.{verb}(%s, consumer => %s)", (self.queue, number))
        return turn

    def _with_ended(
        self, connection: Db, session: Session, turn: Turn, read: Callable[[], list[int]]
    ) -> Callable[[], list[int]]:
        """Receive in a queue of sticky groups: whoever ends a message of a group owns that too."""
        if not self.model.sticky:
            return read

        def run() -> list[int]:
            self.firsts.clear()
            mortal = [
                m
                for m in self.model.messages.values()
                if self.model.there(m, session) and (self.model.expired(m) or self.model.doomed(m))
            ]
            ids = read()
            stored = self._stored(connection) if mortal else set()
            ended = [m for m in mortal if m.number not in stored]
            got = [self.model.messages[number] for number in ids]
            for group in self.model.own(session, turn, got, ended, self.firsts):
                self.model.give(session, group, self._owner(connection, group))
            for message in ended:
                self._end_one(session, message)
            return ids

        return run

    def _owner(self, connection: Db, group: str) -> Consumer | None:
        rows = connection.execute(
            "select o.consumer_id from howdah.group_owners o join howdah.destinations d on d.id = o.destination_id"
            " where d.name = %s and o.group_id = %s",
            (self.queue, group),
        ).fetchall()
        return next((c for c in self.model.consumers for (number,) in rows if c.number == number), None)

    def _end_one(self, session: Session, message: Message) -> None:
        if self.model.lapsed(message):
            self.model.fail(session, message)
        self.model.change(session, message, place="gone", lease=None, due=None)
