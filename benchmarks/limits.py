"""What a limit costs senders: far from it, at it, and beside a counter that every sender updates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import floor
from .bench import BODY, QUEUE, Bench, Db, fill, opened, settle
from .place import SCHEMA
from .record import OURS

ROW = "limits"
NONE = "no limit"
COUNTER = "bare INSERT and a counter row"
FAR = 1_000_000_000
NEAR = 5_000
#: Options of the queue, and of the engine.
WAYS: dict[str, tuple[str, str]] = {
    OURS: (f'{{"message_limit": {FAR}}}', "{}"),
    NONE: ("{}", "{}"),
    "limit of bytes": (f'{{"byte_limit": {FAR}}}', "{}"),
    "limit of the engine": ("{}", f'{{"max_count": {FAR}}}'),
    "full, the oldest removed": (
        f'{{"message_limit": {NEAR}, "limit_behaviour": "remove_oldest", "exception_mode": "none"}}',
        "{}",
    ),
    COUNTER: ("{}", "{}"),
}
WIDTHS = (1, 32)
SEND = f"select howdah.send('{QUEUE}', '{BODY}'::text);"
COUNT = (
    f"with c as (update {SCHEMA}.counter set messages = messages + 1 where messages < {FAR} returning messages)"
    f" insert into {SCHEMA}.floor select nextval('{SCHEMA}.next') + 1000000000, 4, clock_timestamp(), '{BODY}' from c;"
)


@contextmanager
def limited(connection: Db, queue_options: str, engine_options: str) -> Iterator[None]:
    """The queue and the engine with these options."""
    connection.execute("select howdah.alter_queue(%s, %s::jsonb)", (QUEUE, queue_options))
    connection.execute("select howdah.alter_engine(%s::jsonb)", (engine_options,))
    try:
        yield
    finally:
        connection.execute("select howdah.alter_engine('{\"max_count\": 0}')")


def measure(bench: Bench) -> None:
    """One message a transaction, each way in turn, from several connections."""
    for width in WIDTHS:
        each = max(bench.size.messages // width, bench.size.each)
        for _ in range(bench.size.rounds):
            for who, (queue_options, engine_options) in WAYS.items():
                with bench.database() as dsn, opened(dsn) as connection:
                    connection.execute(floor.SETUP.encode())
                    connection.execute(f"create table {SCHEMA}.counter (messages bigint)".encode())
                    connection.execute(f"insert into {SCHEMA}.counter values (0)".encode())
                    if "full" in who:
                        fill(connection, QUEUE, NEAR)
                    settle(connection)
                    with limited(connection, queue_options, engine_options):
                        ran = bench.pgbench(
                            dsn, COUNT if who == COUNTER else SEND, width, each // 10 if "full" in who else each
                        )
                few = "near its limit a send counts, and is slow" if "full" in who else ""
                ran.note(bench.record, ROW, f"{width} connection{'s' * (width > 1)}", who, few=few)
