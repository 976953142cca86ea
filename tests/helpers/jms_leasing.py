"""Steps of jms_machine.py that lease, and that record failures."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st
from jms_messages import LIMIT, Message, Predicate, Session, everything
from jms_receiving import Receiving
from jms_sessions import (
    LEASE_SECONDS,
    begin,
    choices,
    few,
    index,
    selector,
    sessions,
    some_leased,
    some_sent,
    step,
)
from jms_turns import Consumer
from support import Db, refused


class Leasing(Receiving):
    """Leases and their ends, stale tokens, failures."""

    @step(some_sent, session=sessions, begins=begin, wanted=few, selector=selector, at=index)
    def lease(self, session: int, begins: bool, wanted: int, selector: tuple[str, Predicate] | None, at: int) -> None:
        connection, there = self._enter(session, begins)
        consumer = self._whose(session, at)
        text, selects = selector or (None, everything)
        tokens: list[int] = []
        # A lease that has met what must not be delivered comes back with what it holds by then.
        met = any(
            self.model.there(m, there) and (self.model.expired(m) or self.model.doomed(m))
            for m in self.model.messages.values()
        )
        until = self._later(LEASE_SECONDS)
        ids = self._receive(
            connection,
            there,
            consumer,
            lambda: self._read_lease(connection, wanted, text, consumer, tokens),
            1 if self.model.strict else wanted,
            selects,
            text is None,
            not met,
            place="parked",
            lease=0,
            due=until,
        )
        assert len(set(tokens)) <= 1
        for number in ids:
            self.model.messages[number].lease = tokens[0]
        if tokens and consumer and consumer.own_session:
            self.model.bearers[tokens[0]] = consumer
        self._leave(there)

    def _read_lease(
        self, connection: Db, wanted: int, text: str | None, consumer: Consumer | None, tokens: list[int]
    ) -> list[int]:
        rows = connection.execute(
            "select lease, leased_until, message_id, delivery_count, headers"
            " from howdah.lease(%s, %s, %s, selector => %s, consumer => %s)",
            (self.queue, wanted, timedelta(seconds=LEASE_SECONDS), text, consumer and consumer.number),
        ).fetchall()
        for token, until, number, count, headers in rows:
            message = self.model.messages[number]
            assert until == self._later(LEASE_SECONDS)
            assert count == 1 + message.failures + self.model.lapsed(message), f"delivery_count {count}: {message}"
            if headers and headers.pop("JMSXGroupFirstForConsumer", None):
                assert self.model.sticky
                self.firsts.add(number)
            assert (headers or {}) == message.headers
            tokens.append(token)
        return [row[2] for row in rows]

    def _some_leased(self, at: int, keep: list[bool], session: Session) -> tuple[int, list[Message]]:
        """Messages of a lease that this session may name without a wait and that nothing else may have ended."""
        leased = [m for m in self.model.messages.values() if m.lease is not None and self.model.there(m, session)]
        # What has expired or reached its limit another one's receive may have ended.
        leased = [m for m in leased if not self.model.lapsed(m) or not (self.model.expired(m) or self.model.doomed(m))]
        if not leased:
            return 0, []
        token = self._pick(at, sorted({m.lease for m in leased}))
        mine = [m for m in leased if m.lease == token]
        return token, [m for n, m in enumerate(mine) if keep[n % len(keep)]]

    @step(
        some_leased,
        session=sessions,
        begins=begin,
        at=index,
        keep=choices,
        what=st.sampled_from(["ack", "ack", "release", "extend"]),
    )
    def end_lease(self, session: int, begins: bool, at: int, keep: list[bool], what: str) -> None:
        connection, there = self._enter(session, begins)
        token, some = self._some_leased(at, keep, there)
        if some and not self._may_be_laid_aside(*some):
            ids = [m.number for m in some]
            more = ", duration => '30 s', message_ids => %s" if what == "extend" else ", %s"
            row = connection.execute(
                f"select howdah.{what}(%s, %s{more})".encode(), (self.queue, token, ids)
            ).fetchone()
            assert row == (self._later(LEASE_SECONDS) if what == "extend" else len(ids),)
            for message in some:
                if what == "ack":
                    self.model.change(there, message, place="consumed", lease=None, due=None)
                elif what == "release":
                    self.model.change(there, message, place="ready", lease=None, due=None)
                else:
                    self.model.change(there, message, due=self._later(LEASE_SECONDS))
        self._leave(there)

    @step(
        some_leased,
        at=index,
        keep=choices,
        delay=st.sampled_from([None, 5]),
        reject=st.sampled_from([False, False, False, True]),
    )
    def nack(self, at: int, keep: list[bool], delay: int | None, reject: bool) -> None:
        token, some = self._some_leased(at, keep, self.own)
        if not some or self._may_be_laid_aside(*some):
            return
        rows = self.side.execute(
            "select message_id, attempt, outcome from howdah.nack(%s, %s, %s, delay => %s, reject => %s)",
            (self.queue, token, [m.number for m in some], delay and timedelta(seconds=delay), reject),
        ).fetchall()
        assert {row[0] for row in rows} == {m.number for m in some}
        for number, attempt, outcome in rows:
            message = self.model.messages[number]
            self.model.change(self.own, message, place="ready", lease=None, due=None)
            self._failed(message, attempt, outcome, delay, reject)
        self.model.commit(self.own)

    def _failed(self, message: Message, attempt: int, outcome: str, delay: int | None, reject: bool) -> None:
        """A failure of a free message was recorded: what the policy makes of it."""
        message.failures += 1
        message.had = True
        message.held_until = None
        assert attempt == message.failures, f"attempt {attempt}: {message}"
        if message.failures - message.uncounted >= LIMIT or reject:
            assert outcome == "moved", f"{outcome}: {message}"
            self.model.change(self.own, message, place="dead", lease=None, due=None, waiting=False)
        elif delay:
            assert outcome == "delayed", f"{outcome}: {message}"
            self.model.change(self.own, message, place="parked", lease=None, due=self._later(delay), waiting=True)
        else:
            assert outcome == "returned", f"{outcome}: {message}"

    @step(some_sent, times=st.sampled_from([1, 1, 3]), at=index, delay=st.sampled_from([None, 5]))
    def record_failure(self, times: int, at: int, delay: int | None) -> None:
        for _ in range(times):
            self._record_failure(at, delay)

    def _record_failure(self, at: int, delay: int | None) -> None:
        known = [m for m in self.model.messages.values() if m.sent and not self.model.expired(m)]
        # What a receive may have ended, and what a group's receive may hold without having it, have outcomes of their
        # own.
        known = [m for m in known if m.failures - m.uncounted + (m.lease is not None) < LIMIT]
        if not known or (self.model.grouped and any(s.received for s in self.sessions)):
            return
        message: Message = self._pick(at, known)
        if self._may_be_laid_aside(message):
            return
        # Whether another transaction parked it is not seen, and makes a difference in these queues.
        perhaps_met = message.touched is not None or (message.had and any(s.received for s in self.sessions))
        if (self.model.strict or self.limit) and perhaps_met:
            delay = None
        _, attempt, outcome = self.side.execute(
            "select * from howdah.record_failure(%s, %s, delay => %s)",
            (self.queue, message.number, delay and timedelta(seconds=delay)),
        ).fetchone() or (0, 0, "")
        if message.place in ("consumed", "dead") and message.touched is None:
            assert outcome == "gone", f"{outcome}: {message}"
            message.failures += 1
        elif message.touched is not None or self.model.leased(message) or self._may_be_in_hand(outcome):
            assert outcome == "held", f"{outcome}: {message}"
            message.failures += 1
            # Of what another transaction is changing, what was committed before.
            there = message.before if message.touched is not None else vars(message)
            uncounted = there.get("lease") is not None and there["due"] > self.model.now
            message.uncounted += uncounted
            message.held_until = None if uncounted else self._later(delay)
        else:
            self._failed(message, attempt, outcome, delay, False)
        self.model.commit(self.own)

    def _may_be_in_hand(self, outcome: str) -> bool:
        """Whether a transaction that looked for others may have locked it.

        It would have done so where the queue's head is, to see whether it was given back.
        """
        return outcome == "held" and any(s.received for s in self.sessions)

    @step(
        lambda self: any(m.lease != token for token, m in self.model.lost),
        at=index,
        what=st.sampled_from(["ack", "release", "extend", "nack"]),
    )
    def use_stale_lease(self, at: int, what: str) -> None:
        """The fencing token of a lease whose message somebody else received is refused, whatever became of that.

        If the lease ended with its consumer's session, before its time, and who saw that has not committed, the call
        waits for that.
        """
        stale = [(token, m) for token, m in self.model.lost if m.lease != token]
        token, message = self._pick(at, stale)
        more = ", message_ids => %s" if what == "extend" else ", %s"
        there = message.before if message.touched else {}
        waits = there.get("lease") == token and there["due"] > self.model.now
        refused(
            self.side,
            "55P03" if waits else "HD026",
            f"select howdah.{what}(%s, %s{more})",
            (self.queue, token, [message.number]),
        )
