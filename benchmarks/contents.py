"""What the console's pages show besides queues full of messages: failures, dead messages, acts, topics, schedules…

The numbers are realistic for a world of ten million messages. A smaller world has as many less.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from .bench import BODY, Db

FAILING, DYING = "bench_failing", "bench_dying"
#: Failures of one transaction.
PART = 1000
#: Classes of errors and what they say. A number in the text is none of the cause.
ERRORS = (
    ("TimeoutError", "the bank did not answer within 5 s"),
    ("KeyError", "'address' of order %s"),
    ("ConnectionRefusedError", "no connection to 10.0.0.%s"),
    ("ValueError", "%s is no amount"),
    ("PermissionError", "customer %s may not order"),
    ("UnicodeDecodeError", "byte 0xff in position %s"),
    ("ZeroDivisionError", "division by zero"),
    ("StockError", "%s pieces are not in stock"),
)
TRACEBACK = (
    'Traceback (most recent call last):\n  File "shop/orders.py", line 41, in handle\n' + "    charge(order)\n" * 12
)

_FAIL = """
select count(*) from howdah.record_failures(%(queue)s, (
    select jsonb_agg(jsonb_build_object('message_id', b.message_id, 'worker', 'worker-' || b.n %% 20 || ':0',
        'duration_ms', b.n %% 900, 'error_class', e.error ->> 0, 'error_text', replace(e.error ->> 1, '%%s', b.n::text),
        'traceback', %(traceback)s::text, 'details', jsonb_build_object('trace_id', lpad(to_hex(b.n), 32, 'a'))))
    from (select m.message_id, row_number() over () as n from howdah.browse(%(queue)s, %(part)s) m) b
    cross join lateral (
        select %(errors)s::jsonb -> (b.n %% %(classes)s * (b.n / %(classes)s %% 2))::integer as error) e))
"""
_SEND = """
select cardinality(howdah.send_batch(%(queue)s, array_fill(%(body)s::text, array[%(part)s]), headers => array(
    select jsonb_build_object('traceparent', format('00-%%s-%%s-01', lpad(to_hex(n), 32, 'a'), lpad('1', 16, 'b')))
    from generate_series(1, %(part)s) n)))
"""
#: A week of samples, of all queues and of some, as maintenance would have left them; the last three hours by minutes.
_WEEK = """
insert into howdah.flow_samples
select s.step, s.at, q.id, n * 40, n * 39, n / 9, 1000 + n %% 700, s.at - interval '90 seconds'
from (
    select 15::smallint as step, now() - n * interval '15 minutes' as at, 672 - n as n from generate_series(1, 672) n
    union all
    select 1, now() - n * interval '1 minute', 180 - n from generate_series(1, 180) n
) s, (select 0 as id union all select * from (select d.id from howdah.destinations d
    where d.kind = 'queue' and d.name ^@ 'bench_q' order by d.id limit %(queues)s) d) q
on conflict do nothing
"""


@dataclass(frozen=True)
class Contents:
    """How much of each there is."""

    failures: int
    dead: int
    acts: int
    topics: int
    schedules: int
    delayed: int
    others: int
    sampled: int

    @classmethod
    def of(cls, messages: int) -> Contents:
        """What a world with that many messages has: with ten million, 60,000 failures and 20,000 dead messages."""
        return cls(
            failures=max(messages * 6 // 1000, 60),
            dead=max(messages // 500, 20),
            acts=max(messages // 10_000, 20),
            topics=max(messages // 100_000, 10),
            schedules=max(messages // 10_000, 20),
            delayed=max(messages // 1000, 50),
            others=max(messages // 100_000, 5),
            sampled=max(messages // 50_000, 5),
        )

    def fill(self, connection: Db) -> None:
        """Put all of it into a database that has the queue bench_q0."""
        self._failures(connection)
        self._topics(connection)
        self._schedules(connection)
        self._acts(connection)
        self._others(connection)
        self._week(connection)

    def _failures(self, connection: Db) -> None:
        options = {"redelivery_delay_ms": 0}
        connection.execute("select howdah.create_queue(%s, %s)", (FAILING, json.dumps(options)))
        connection.execute("select howdah.create_queue(%s, %s)", (DYING, json.dumps({"max_failed_deliveries": 1})))
        # Each live message fails twice, so there are half as many as failures.
        living = max(self.failures - self.dead, 2) // 2
        for queue, number, times in ((DYING, self.dead, 1), (FAILING, living, 2)):
            for done in range(0, number, PART):
                part = min(PART, number - done)
                connection.execute(_SEND, {"queue": queue, "body": BODY, "part": part})
                for _ in range(times):
                    self._fail(connection, queue, part)
                if queue == FAILING:  # out of the way of the next part
                    connection.execute("select count(*) from howdah.lease(%s, %s, '7 days')", (queue, part))
        connection.execute("vacuum analyze howdah.poison_details")

    def _fail(self, connection: Db, queue: str, part: int) -> None:
        given = {"queue": queue, "part": part, "traceback": TRACEBACK, "errors": json.dumps(ERRORS)}
        connection.execute(_FAIL, {**given, "classes": len(ERRORS)})

    def _topics(self, connection: Db) -> None:
        for number in range(self.topics):
            topic = f"bench.topic{number}"
            connection.execute("select howdah.create_topic(%s)", (topic,))
            for reader in range(3):
                connection.execute("select howdah.subscribe(%s, %s)", (topic, f"reader{number}-{reader}"))
            connection.execute("select howdah.send_batch(%s, array_fill(%s::text, array[100]))", (topic, BODY))
            connection.execute("select count(*) from howdah.receive(%s, 60)", (f"{topic}::reader{number}-0",))

    def _schedules(self, connection: Db) -> None:
        for first in range(0, self.schedules, PART):
            connection.execute(
                "select count(howdah.schedule('bench_q' || n %% 10, 'tick', period => '1 hour',"
                " name => 'bench_s' || n)) from generate_series(%s::int, %s::int) n",
                (first, min(first + PART, self.schedules) - 1),
            )
        for done in range(0, self.delayed, PART):
            connection.execute(
                "select cardinality(howdah.send_batch('bench_q0', array_fill(%s::text, array[%s]),"
                " delay => '30 days'))",
                (BODY, min(PART, self.delayed - done)),
            )

    def _acts(self, connection: Db) -> None:
        connection.execute(
            "select count(howdah.send_by_hand('bench_q0', %s, reason => 'to try: ' || n))"
            " from generate_series(1, %s) n",
            (BODY, self.acts),
        )

    def _others(self, connection: Db) -> None:
        """Workers, instances, links, consumers, leases and audits."""
        queues = json.dumps(
            [{"queue": f"bench_q{n}", "verdict": "proved", "live": n} for n in range(self.others * 100)]
        )
        for number in range(self.others):
            name = f"bench-{number}"
            connection.execute("select howdah.register_worker(%s, 'app1', %s, 8, array['bench_q0'])", (name, number))
            connection.execute("select howdah.register_instance(%s, 'app1', %s)", (name, number))
            connection.execute(
                "select howdah.create_link(%s, %s, 'there', dsn_env => 'HOWDAH_LINK_DSN')",
                (name, f"bench_q{number % 10}"),
            )
            connection.execute("select howdah.pause_link(%s)", (name,))  # nobody forwards while something is measured
            connection.execute("select howdah.open_consumer('bench_q1', exclusive => true, timeout => '1 day')")
            connection.execute("select count(*) from howdah.lease('bench_q2', 2, '7 days')")
            connection.execute(
                "select howdah.record_audit(now(), 0, 'none', now(), rows_read => 48210, queues => %s)", (queues,)
            )

    def _week(self, connection: Db) -> None:
        connection.execute(_WEEK, {"queues": self.sampled})
        connection.execute("vacuum analyze howdah.flow_samples")
