"""Whether a busy queue would be faster in a table of its own: the statements of a send and a receive, in turn.

The shared table also holds messages of many other queues, as Howdah's does. Both are like msgs.
"""

from __future__ import annotations

from .bench import BODY, Bench, opened, settle
from .record import OURS

ROW = "own-table"
OWN = "a table of its own"
QUEUES = 100
BUSY = QUEUES // 2

SETUP = """
create table shared (like howdah.msgs including all);
create table own (like howdah.msgs including all);
create sequence next;
create sequence take;
"""
OTHERS = f"""
insert into shared (seq, message_id, sent_at, destination_id, rank, stage, is_text, content_type, body)
select g / {QUEUES}, g, clock_timestamp(), g %% {QUEUES}, 5, 0, true, 'text/plain', %s::text::bytea
from generate_series(1, %s) g where g %% {QUEUES} <> {BUSY}
"""


def statements(table: str) -> str:
    """A send and a receive of one message, without functions around them."""
    return (
        f"insert into howdah_bench.{table} (seq, message_id, sent_at, destination_id, rank, stage, is_text,"
        f" content_type, body) values (nextval('howdah_bench.next'), 1, clock_timestamp(), {BUSY}, 5, 0, true,"
        f" 'text/plain', '{BODY}');\n"
        f"delete from howdah_bench.{table} where destination_id = {BUSY} and rank = 5"
        " and seq = (select nextval('howdah_bench.take')) and xmax = 0 returning *;"
    )


def measure(bench: Bench) -> None:
    """Send and receive one message by one, in either table."""
    size = bench.size
    with bench.database() as dsn, opened(dsn) as connection:
        connection.execute(SETUP.encode())
        connection.execute(OTHERS.encode(), (BODY, size.live))
        for width in (1, 4):
            number = max(size.messages // width, size.each)
            for turn in range(size.rounds):
                ways = [(OURS, "shared"), (OWN, "own")]
                for who, table in ways if turn % 2 == 0 else ways[::-1]:
                    connection.execute("select setval('next', 1, false), setval('take', 1, false)")
                    for name in ("shared", "own"):
                        connection.execute(f"delete from {name} where destination_id = {BUSY}".encode())
                        settle(connection, f"howdah_bench.{name}")
                    ran = bench.pgbench(dsn, statements(table), width, number)
                    ran.note(bench.record, ROW, f"{width} connection{'s' * (width > 1)}", who)
