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


def hold_up(db: Db, table: str) -> None:
    """Let sessions with test.held wait in mid-statement for an advisory lock, at that call for a row of a table."""
    db.execute(
        b"""
        create function public.held_up() returns boolean language plpgsql volatile as $$
        begin
            if current_setting('test.held', true) <> '' then
                if current_setting('test.held')::integer = 1 then
                    perform pg_advisory_lock_shared(77);
                    perform pg_advisory_unlock_shared(77);
                end if;
                perform set_config('test.held', (current_setting('test.held')::integer - 1)::text, false);
            end if;
            return true;
        end $$;
        """
    )
    db.execute(f"alter table howdah.{table} enable row level security, force row level security".encode())
    db.execute(f"create policy held_up on howdah.{table} using (public.held_up())".encode())
