from __future__ import annotations

import threading

from policy_support import Create
from support import Connect, Db, column, one


def test_what_came_back_is_taken_by_who_found_it(db: Db, create: Create, connect: Connect) -> None:
    create()
    missed = 0
    rounds = 600
    one(db, "select cardinality(howdah.send_batch('q', array_agg(i::text order by i))) from generate_series(1, 9000) i")
    sessions = [connect() for _ in range(4)]
    holder = connect()
    for _ in range(rounds):
        holder.execute("begin")
        (back,) = column(holder, "select message_id from howdah.receive('q')")
        for s in sessions[:1]:
            column(s, "select message_id from howdah.receive('q', 3)")
        holder.execute("rollback")
        column(db, "select pg_sleep(0.01)")
        got: list[int] = []
        barrier = threading.Barrier(len(sessions))

        def work(s: Db) -> None:
            s.execute("begin")
            barrier.wait()
            got.extend(column(s, "select message_id from howdah.receive('q')"))

        threads = [threading.Thread(target=work, args=(s,)) for s in sessions]
        [t.start() for t in threads]
        [t.join() for t in threads]
        if back not in got:
            locked = one(db, "select count(*) from (select from howdah.msgs where message_id = %s for update skip locked) x", (back,))
            missed += locked == 0
        for s in sessions:
            s.execute("rollback")
    print("found, locked and not delivered:", missed, "of", rounds)
    assert missed == 0
