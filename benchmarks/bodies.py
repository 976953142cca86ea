"""Bodies of 64 bytes, 4 KB and 1 MB, sent and received by a Python client; and how TOAST should store them."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from functools import partial

from .bench import QUEUE, Bench, Db, opened, timed
from .record import OURS

SIZES = {"64 B": 64, "4 KB": 4096, "1 MB": 1 << 20}
BARE = "bare table"
FLOOR = "create table floor (id bigint generated always as identity primary key, body bytea)"
#: Ways of PostgreSQL to store a body; None: left as it is.
STORAGE = {
    "pglz": "alter column body set storage extended, alter column body set compression pglz",
    "lz4": "alter column body set storage extended, alter column body set compression lz4",
    "EXTERNAL": "alter column body set storage external",
}


def text(length: int, seed: int = 0) -> bytes:
    """JSON as applications send it: names that repeat, values that do not."""
    chosen = random.Random(seed)
    rows: list[dict[str, object]] = []
    size = 2
    while size < length:
        number = chosen.randrange(10**9)
        rows.append({"order_id": number, "customer": f"customer-{number % 9973}", "amount": number / 100, "paid": True})
        size += len(json.dumps(rows[-1])) + 2
    return json.dumps(rows).encode()[:length]


def noise(length: int, seed: int = 0) -> bytes:
    """What does not compress, such as pictures and archives."""
    return random.Random(seed).randbytes(length)


def _send_ours(connection: Db, body: bytes) -> None:
    connection.execute("select howdah.send(%s, %b::bytea)", (QUEUE, body))


def _receive_ours(connection: Db) -> None:
    if not connection.execute(f"select bytes from howdah.receive('{QUEUE}')", binary=True).fetchone():
        raise RuntimeError("no message came")


def _send_bare(connection: Db, body: bytes) -> None:
    connection.execute("insert into floor (body) values (%b)", (body,))


def _receive_bare(connection: Db) -> None:
    connection.execute(
        "delete from floor where ctid = (select ctid from floor order by id limit 1 for update skip locked)"
        " returning body",
        binary=True,
    ).fetchone()


WAYS: dict[str, tuple[Callable[[Db, bytes], None], Callable[[Db], None]]] = {
    OURS: (_send_ours, _receive_ours),
    BARE: (_send_bare, _receive_bare),
}


def count(bench: Bench, length: int) -> int:
    """Messages of one run: fewer of the large ones."""
    return (
        max(bench.size.messages // 4, bench.size.each)
        if length <= 4096
        else max(3, bench.size.messages // 100, bench.size.each // 30)
    )


def measure(bench: Bench) -> None:
    """Send them one a transaction and take them one a transaction, ours and a bare table in turn."""
    with bench.database() as dsn, opened(dsn) as connection:
        connection.execute(FLOOR.encode())
        for name, length in SIZES.items():
            body = text(length)
            number = count(bench, length)
            for turn in range(bench.size.rounds):
                for who, (send, receive) in list(WAYS.items())[:: 1 if turn % 2 == 0 else -1]:
                    for what, do in (
                        ("send", partial(send, connection, body)),
                        ("receive", partial(receive, connection)),
                    ):
                        timed(do, bench.size.warm if length <= 4096 else 1)
                        with bench.meter() as meter:
                            seconds = timed(do, number)
                        cost, few = meter.cost(number), "" if length <= 4096 else "so large that fewer tell as much"
                        rate = number / seconds
                        case = f"{what}, {name}"
                        bench.record.add("bodies", case, who, "/s", rate, cost=cost, transactions=number, few=few)


def toast(bench: Bench) -> None:
    """The same with each storage of bodies.body, on text and on noise: rates, and bytes of WAL a message."""
    with bench.database() as dsn, opened(dsn) as connection:
        query = "select unnest(enumvals) from pg_settings where name = 'default_toast_compression'"
        known = {"EXTERNAL", *(row[0] for row in connection.execute(query.encode()).fetchall())}
        ways = [way for way in STORAGE.items() if way[0] in known]
        for name in ("4 KB", "1 MB"):
            number = count(bench, SIZES[name])
            for kind, make in (("JSON", text), ("noise", noise)):
                bodies = [make(SIZES[name], seed) for seed in range(8)]
                for turn in range(bench.size.rounds):
                    for storage, alter in ways[:: 1 if turn % 2 == 0 else -1]:
                        connection.execute("set role none")  # the applications' may not
                        connection.execute(f"alter table howdah.bodies {alter}".encode())
                        connection.execute("checkpoint")
                        connection.execute("reset role")
                        _one(bench, connection, f"{name} of {kind}", storage, bodies, number)


def _one(bench: Bench, connection: Db, case: str, storage: str, bodies: list[bytes], number: int) -> None:
    before = _wal(connection)
    chosen = itertools.cycle(bodies)
    with bench.meter() as sends:
        sending = timed(lambda: _send_ours(connection, next(chosen)), number)
    between = _wal(connection)
    with bench.meter() as receives:
        receiving = timed(partial(_receive_ours, connection), number)
    bench.record.add("toast", f"send, {case}", storage, "/s", number / sending, cost=sends.cost(number))
    bench.record.add("toast", f"send, WAL, {case}", storage, "bytes", (between - before) / number)
    bench.record.add("toast", f"receive, {case}", storage, "/s", number / receiving, cost=receives.cost(number))
    bench.record.add("toast", f"receive, WAL, {case}", storage, "bytes", (_wal(connection) - between) / number)


def _wal(connection: Db) -> float:
    row = connection.execute("select pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()
    return 0.0 if row is None else float(row[0])
