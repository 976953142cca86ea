"""Steps of several sessions on one queue, chosen by hypothesis, each held to the model of jms_model.py.

Sessions keep transactions open, go back to savepoints, lease, acknowledge, fail, and are killed. One statement runs at
a time: what happens while two run is test_schedules.py's. This is the whole machine and its end; the steps:
jms_sessions.py, jms_sending.py, jms_consuming.py, jms_receiving.py, jms_leasing.py, jms_several.py.
"""

from __future__ import annotations

import psycopg
from jms_messages import everything
from jms_several import Several
from jms_turns import Consumer
from support import refused


class JmsMachine(Several):
    """One queue, three sessions and a fourth connection for calls that are committed at once."""

    def teardown(self) -> None:
        try:
            if not self.broken:
                self._end()
        finally:
            for connection in (self.side, *self.connections):
                if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    connection.close()
                else:
                    self.idle.append(connection)

    def _end(self) -> None:
        """End all transactions and leases, drain the queue, and count."""
        for number, session in enumerate(self.sessions):
            if session.open:
                self._finish(number, "commit" if number % 2 else "rollback")
        self.clock.advance(120)
        self.model.advance(120)
        if self.model.keeps_order(self.own):
            for call in ("receive_message(%s, 1)", "receive_correlated(%s, 'a')"):
                refused(self.side, "HD005", f"select howdah.{call}", (self.queue,))
        consumer = self._last_consumer() if self.consumers else None
        while True:
            ids = self._receive(
                self.side,
                self.own,
                consumer,
                lambda: self._read(
                    self.side, "howdah.receive(%s, 100, consumer => %s)", (self.queue, consumer and consumer.number)
                ),
                100,
                everything,
                True,
            )
            self.model.commit(self.own)
            if not ids:
                break
        while self.several and self._receive_any(self.side, self.own, 100):
            self.model.commit(self.own)
        self.model.commit(self.own)
        while self.side.execute("select howdah.maintain_expired()").fetchone() != (0,):
            pass
        self._check_fates()
        if self.model.twin:
            self.model, self.queue = self.model.twin, self.twin_queue
            self._check_fates()

    def _last_consumer(self) -> Consumer | None:
        """One that takes what is left, when all others are closed."""
        for consumer in self.model.visible(None):
            self.side.execute("select howdah.close_consumer(%s)", (consumer.number,))
            consumer.closed = True
        return self._open_consumer(0, own_session=False)

    def _check_bodies(self) -> None:
        """Each body that lies apart is that of one message that is there, and of no other."""
        (wrong,) = self.side.execute(
            "select count(*) from howdah.bodies b full join (select m.message_id"
            " from howdah.msgs m where m.body is null"
            " union all select l.message_id from howdah.leased l where l.body is null"
            " union all select p.message_id from howdah.parked p where p.body is null) o on o.message_id = b.message_id"
            " where b.message_id is null or o.message_id is null"
        ).fetchone() or (None,)
        assert wrong == 0

    def _check_fates(self) -> None:
        rows = self.side.execute(
            "select j.event, i.id from howdah.journal j cross join unnest(j.message_ids) i(id)"
            " where j.destination_id = (select d.id from howdah.destinations d where d.name = %s)",
            (self.queue,),
        ).fetchall()
        assert len({number for _, number in rows}) == len(rows), "a message ended twice"
        journal: dict[str, set[int]] = {"consumed": set(), "moved": set(), "expired": set(), "discarded": set()}
        for event, number in rows:
            journal[event].add(number)
        fates = self.model.fates()
        left = {number: self.model.messages[number] for number in fates["left"]}
        assert journal["consumed"] == fates["consumed"]
        assert journal["discarded"] == fates["discarded"]
        assert journal["moved"] - left.keys() == fates["dead"]
        assert set().union(*journal.values()) == {m.number for m in self.model.messages.values() if m.sent}
        for number, message in left.items():
            moves = self.model.expired(message) and self.options.get("process_expired", False)
            if number in journal["moved"]:
                assert self.model.doomed(message) or moves, f"moved: {message}"
            else:
                assert self.model.expired(message), f"{message}"
                assert not moves, f"not moved: {message}"
        dead = self.side.execute(
            "select m.message_id from howdah.msgs m join howdah.destinations d on d.id = m.origin_id where d.name = %s"
            " union all select n.message_id from howdah.msgs_nonpersistent n"
            " join howdah.destinations d on d.id = n.origin_id"
            " where d.name = %s",
            (self.queue, self.queue),
        ).fetchall()
        assert {row[0] for row in dead} == journal["moved"]
        assert len(dead) == len(journal["moved"])
        row = self.side.execute(
            "select live, parked, consumed, expired, discarded, moved_out, enqueued, lost from howdah.queue_stats(%s)",
            (self.queue,),
        ).fetchone()
        counts = [len(journal[event]) for event in ("consumed", "expired", "discarded", "moved")]
        assert row == (0, 0, *counts, sum(counts), 0), f"{row} {counts}"
        self._check_bodies()
        for name, messages in journal.items():
            self.steps[name] += len(messages)
