"""Steps of jms_machine.py on two queues at once: sends to both, and receives from whatever a wildcard matches."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from jms_leasing import Leasing
from jms_messages import Predicate, Session, everything
from jms_sessions import COLUMNS, Sessions, begin, few, headers, seconds, selector, sessions, some_sent, step
from jms_turns import Turns
from psycopg.types.json import Jsonb
from support import Db, refused


def two(machine: Sessions) -> bool:
    return machine.model.twin is not None


class Several(Leasing):
    """The queue and its twin, whose name differs in its last part; a message of both is two messages from then on."""

    def _create(self, options: dict[str, Any], consumers: bool) -> None:
        super()._create(options, consumers)
        self.first = self.model
        if self.several:
            self.model.twin = Turns(self.clock.now, {})
            self.side.execute("select howdah.create_queue(%s)", (self.twin_queue,))

    @property
    def twin_queue(self) -> str:
        return self.queue.rpartition(".")[0] + ".b"

    @step(
        two,
        session=sessions,
        begins=begin,
        named=st.sampled_from(["{a},{b}", "{b},{a}", "queue://{a}, queue://{b}, {a}"]),
        priority=st.sampled_from([4, 4, 7]),
        headers=headers,
        live=seconds,
        delay=seconds,
    )
    def send_both(
        self,
        session: int,
        begins: bool,
        named: str,
        priority: int,
        headers: dict[str, Any],
        live: int | None,
        delay: int | None,
    ) -> None:
        """The number is that of the first one's; each has a number and a position of its own."""
        connection, there = self._enter(session, begins)
        names = named.format(a=self.queue, b=self.twin_queue)
        before = self._numbers(connection)
        number = connection.execute(
            "select howdah.send(%s, 'x', headers => %s, priority => %s, time_to_live => %s, delay => %s)",
            (
                names,
                Jsonb(headers) if headers else None,
                priority,
                live and timedelta(seconds=live),
                delay and timedelta(seconds=delay),
            ),
        ).fetchone()
        new = self._numbers(connection) - before
        assert sorted(queue for queue, _ in new) == [self.queue, self.twin_queue]
        assert ((self.twin_queue if named.startswith("{b}") else self.queue), *(number or ())) in new
        for queue, sent in new:
            self.model = self._model_of(queue)
            self._sent(
                there,
                sent,
                priority=priority,
                headers=headers,
                correlation=None,
                persistent=True,
                delayed=delay is not None,
                expires=self._later(live),
                due=self._later(delay),
            )
        self.model = self.first
        self._leave(there)

    @step(two, session=sessions, begins=begin)
    def send_to_one_that_is_not(self, session: int, begins: bool) -> None:
        """Then nothing is sent to any: a message that nobody sent would be received."""
        connection, there = self._enter(session, begins)
        refused(connection, "HD001", "select howdah.send(%s, 'x')", (f"{self.queue},{self.twin_queue},{self.queue}.c",))
        self._leave(there)

    @step(lambda self: two(self) and some_sent(self), session=sessions, begins=begin, wanted=few, selector=selector)
    def receive_any(self, session: int, begins: bool, wanted: int, selector: tuple[str, Predicate] | None) -> None:
        connection, there = self._enter(session, begins)
        self._receive_any(connection, there, wanted, selector)
        self._leave(there)

    def _receive_any(
        self, connection: Db, there: Session, wanted: int, selector: tuple[str, Predicate] | None = None
    ) -> int:
        """Each queue gives what a receive of the number that is left would, one after the other."""
        text, selects = selector or (None, everything)
        there.received = there.open
        got: dict[str, list[int]] = {}

        def read() -> list[int]:
            looked_at = self.model
            rows = connection.execute(
                f"select queue, {COLUMNS}, body is not null from howdah.receive(%s, %s, selector => %s)".encode(),
                (self.queue.rpartition(".")[0] + ".*", wanted, text),
            ).fetchall()
            for queue, *row in rows:
                self.model = self._model_of(queue)
                got.setdefault(queue, []).append(self._check_row(tuple(row)))
            self.model = looked_at
            return [row[1] for row in rows]

        for model in (self.first, self.first.twin):
            assert model is not None
            self.model = model
            if self._find(read, there, selects):
                break
        left = wanted
        self.model = self.first
        found = sum(map(len, got.values()))
        for queue in sorted({self.queue, self.twin_queue} - got.keys()) if found < wanted else []:
            got[queue] = []
        for queue, ids in got.items():
            model = self._model_of(queue)
            model.check_received(there, ids, left, selects, text is None)
            left -= len(ids)
            for number in ids:
                model.hand(there, model.messages[number])
        return found

    def _model_of(self, queue: str) -> Turns:
        model = self.first if queue == self.queue else self.first.twin
        assert model is not None
        return model

    def _numbers(self, connection: Db) -> set[tuple[str, int]]:
        """What lies in the two queues' tables, as this connection sees it."""
        rows = connection.execute(
            "select d.name, m.message_id from (select destination_id, message_id from howdah.msgs"
            " union all select destination_id, message_id from howdah.parked) m"
            " join howdah.destinations d on d.id = m.destination_id where d.name = any (%s)",
            ([self.queue, self.twin_queue],),
        ).fetchall()
        return {(name, number) for name, number in rows}
