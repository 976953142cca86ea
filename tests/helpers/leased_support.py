"""Messages of the queue q and their leases, as rows of leased and of parked."""

from __future__ import annotations

from support import Db, one


def send(db: Db, *bodies: str) -> list[int]:
    return [one(db, "select howdah.send('q', %s)", (body,)) for body in bodies]


def lease(db: Db, n: int = 1, seconds: float = 30, queue: str = "q") -> tuple[int | None, list[int]]:
    rows = db.execute(
        "select lease, message_id from howdah.lease(%s, %s, %s * interval '1 second')", (queue, n, seconds)
    ).fetchall()
    return (rows[0][0] if rows else None), [row[1] for row in rows]


def lying(db: Db) -> tuple[int, int, int]:
    """How many leased messages lie in leased, in parked, and how many leases are on record."""
    return (
        one(db, "select count(*) from howdah.leased"),
        one(db, "select count(*) from howdah.parked where lease_id is not null"),
        one(db, "select count(*) from howdah.leases"),
    )


def lease_apart(db: Db, n: int, seconds: float) -> None:
    """Lease into leased.

    A queue in which a look for due messages has taken more than 1 ms, as where the machine is busy, leases into parked
    for once.
    """
    while True:
        number, ids = lease(db, n, seconds)
        assert len(ids) == n
        if one(db, "select count(*) from howdah.leased where seq >> 20 = %s", (number,)) == n:
            return
        one(db, "select howdah.release('q', %s)", (number,))
