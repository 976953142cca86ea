"""Steps of a random schedule on topics that publish, subscribe, receive and maintain."""

from __future__ import annotations

import json

from topic_ledger import Message, Subscription
from topic_sessions import CLIENT, NUMBERS, Session, Sessions

COLOURS = ("red", "blue")


class Steps(Sessions):
    """What sessions do to topics and their subscriptions."""

    def _publish(self, session: Session) -> None:
        dice = self._dice
        message = self._message(session, dice.choice(self._topics))
        mode = dice.choice(["persistent", "persistent", "non-persistent"])
        row = session.connection.execute(
            "select howdah.send(%s, 'x'::text, headers => %s, priority => %s, delivery_mode => %s, notify => false)",
            (message.topic, json.dumps({"colour": message.colour}), message.priority, mode),
        ).fetchone()
        assert row
        message.id = row[0]
        self._work(session).sent.append(message)
        self._note(session, f"send {mode} {message}")

    def _publish_batch(self, session: Session) -> None:
        topic = self._dice.choice(self._topics)
        messages = [self._message(session, topic) for _ in range(self._dice.choice([2, 5, 30, 700]))]
        row = session.connection.execute(
            "select howdah.send_batch(%s, array_fill('x'::text, array[%s::integer]), headers => %s::jsonb[],"
            " priorities => %s::integer[], notify => false)",
            (
                topic,
                len(messages),
                [json.dumps({"colour": message.colour}) for message in messages],
                [message.priority for message in messages],
            ),
        ).fetchone()
        assert row
        for message, number in zip(messages, row[0], strict=True):
            message.id = number
            self._work(session).sent.append(message)
        self._note(session, f"batch {len(messages)} from {messages[0]}")

    def _message(self, session: Session, topic: str) -> Message:
        session.published += 1
        colour, priority = self._dice.choice(COLOURS), self._dice.choice([4, 4, 4, 0, 9])
        return Message(0, topic, session.producer, session.published, colour, priority, session.client)

    def _subscribe(self, session: Session) -> None:
        dice = self._dice
        wild = dice.random() < 0.3
        topic = dice.choice(self._topics)
        self._work(session)
        subscription = Subscription(
            "",
            self._topics if wild else [topic],
            session.snapshot if session.repeatable else self._ledger.events,
            shared=dice.random() < 0.4,
            colour=dice.choice(COLOURS) if dice.random() < 0.25 else None,
            prioritized=dice.random() < 0.12,
            durable=dice.random() < 0.8,
            failing=dice.random() < 0.3,
        )
        if not subscription.shared and dice.random() < 0.2:
            subscription.client = CLIENT
        options: dict[str, object] = {"prioritized": subscription.prioritized}
        if subscription.failing:
            options |= dice.choice([{}, {"redelivery_delay_ms": 2}])
            options |= {"max_failed_deliveries": 2, "exception_mode": "individual", "process_non_persistent": True}
        row = session.connection.execute(
            "select howdah.subscribe(%s, %s, %s, %s, shared => %s, durable => %s, no_local => %s, options => %s)",
            (
                topic.split(".")[0] + ".>" if wild else topic,
                f"s{next(NUMBERS)}",
                subscription.client or "",
                f"colour = '{subscription.colour}'" if subscription.colour else None,
                subscription.shared,
                subscription.durable,
                subscription.client is not None,
                json.dumps(options),
            ),
        ).fetchone()
        assert row
        subscription.name = row[0]
        self._work(session).began.append(subscription)
        self._note(session, f"subscribe {subscription}")

    def _unsubscribe(self, session: Session) -> None:
        if subscription := self._any(session):
            session.connection.execute("select howdah.unsubscribe(%s)", (subscription.name,))
            self._work(session).ended.append(subscription)
            self._note(session, f"unsubscribe {subscription.name}")

    def _any(self, session: Session) -> Subscription | None:
        """A subscription that the session may know."""
        mine = session.work.began if session.work else []
        known = [s for s in self._ledger.subscriptions + mine if not s.ended]
        known = [s for s in known if not (session.work and s in session.work.ended)]
        return self._dice.choice(known) if known else None

    def _take(self, session: Session, subscription: Subscription, verb: str, number: int) -> list[tuple[int, int, int]]:
        rows = session.connection.execute(
            f"select message_id, priority, position from howdah.{verb}(%s, %s)".encode(), (subscription.name, number)
        ).fetchall()
        self._note(session, f"{verb} {subscription.name} {number}: {[row[0] for row in rows]}")
        if not subscription.failing:
            self._ledger.check_order(subscription, [row[0] for row in rows])
        return rows

    def _receive(self, session: Session) -> None:
        if subscription := self._any(session):
            # From 500 on a read takes what one transaction published as a run.
            number = 1000 if self._dice.random() < 0.2 else self._dice.randint(1, 20)
            rows = self._take(session, subscription, "receive", number)
            self._work(session).got += [(subscription, row[0]) for row in rows]
            if rows and subscription.failing:
                self._failed = [(subscription, *rows[0]), *self._failed[:4]]

    def _hold(self, session: Session) -> None:
        if not (subscription := self._any(session)):
            return
        single = session.connection.info.transaction_status == 0
        if single:
            session.connection.execute("begin")
            self._work(session)
        rows = self._take(session, subscription, "receive_locked", self._dice.randint(1, 10))
        kept = [row for row in rows if self._dice.random() < 0.5]
        if kept:
            session.connection.execute(
                "select howdah.consume_locked(%s, %s::bigint[], %s::integer[], %s::bigint[])",
                (subscription.name, *([row[n] for row in kept] for n in range(3))),
            )
        subscription.loose = True
        self._work(session).got += [(subscription, row[0]) for row in kept]
        self._note(session, f"consumed {[row[0] for row in kept]}")
        if single:
            self._commit(session)

    def _lease(self, session: Session) -> None:
        """Lease in a transaction of its own.

        Of a subscription whose failures count at times for so short that the lease runs out.
        """
        if session.connection.info.transaction_status != 0 or not (subscription := self._any(session)):
            return
        self._work(session)
        milliseconds = self._dice.choice([1, 3_600_000]) if subscription.failing else 3_600_000
        rows = session.connection.execute(
            "select lease, message_id from howdah.lease(%s, %s, %s * interval '1 millisecond')",
            (subscription.name, self._dice.randint(1, 8), milliseconds),
        ).fetchall()
        self._note(session, f"lease {subscription.name} for {milliseconds}: {rows}")
        if rows:
            subscription.loose = True
            self._leases.append((subscription, rows[0][0], [row[1] for row in rows]))

    def _ack(self, session: Session) -> None:
        """Acknowledge some or all of a lease; what a rollback then takes back is released at the end."""
        if not self._leases:
            return
        subscription, lease, numbers = self._leases.pop(self._dice.randrange(len(self._leases)))
        some = self._dice.sample(numbers, self._dice.randint(1, len(numbers)))
        session.connection.execute("select howdah.ack(%s, %s, %s::bigint[])", (subscription.name, lease, some))
        self._work(session).got += [(subscription, number) for number in some]
        self._note(session, f"ack {subscription.name} {lease}: {some}")
        if rest := [number for number in numbers if number not in some]:
            self._leases.append((subscription, lease, rest))

    def _record_failure(self, session: Session) -> None:
        if not self._failed or session.connection.info.transaction_status != 0:
            return
        subscription, number, priority, position = self._failed.pop(self._dice.randrange(len(self._failed)))
        rows = session.connection.execute(
            'select outcome from howdah.record_failure(%s, %s, priority => %s, "position" => %s)',
            (subscription.name, number, priority, position),
        ).fetchall()
        self._note(session, f"failure {subscription.name} {number}: {rows}")
        self._work(session)

    def _turn(self, session: Session, call: str = "howdah.maintain_topics()") -> None:
        """Call maintenance, as a rule in a transaction of its own.

        Inside another one it is a lock that many wait for.
        """
        inside = session.work is not None and self._dice.random() < 0.1
        row = (session.connection if inside else self._direct).execute(f"select {call}".encode()).fetchone()
        self._note(session if inside else None, f"{call}: {row}")

    def _look_after(self, session: Session) -> None:
        self._turn(session, "howdah.maintain_subscriptions()")
