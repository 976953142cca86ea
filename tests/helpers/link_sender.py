"""Sends numbered messages to the queue "out", of all levels of reliability.

It writes each number to stdout once it is committed, and before that with a question mark. Those of non-persistent
messages end with an n.
"""

from __future__ import annotations

import random
import sys
import time

import psycopg

LEVELS = (
    "BEST_EFFORT_NONPERSISTENT",
    "EXPRESS_NONPERSISTENT",
    "RELIABLE_NONPERSISTENT",
    *["RELIABLE_PERSISTENT", "ASSURED_PERSISTENT"] * 4,
)


def main(dsn: str, last: int, pause_ms: int, seed: int) -> None:
    """Send the numbers up to last, some at a time, with pauses of that length on average."""
    dice = random.Random(seed)
    at = 0
    while at < last:
        try:
            with psycopg.connect(dsn) as db:
                while at < last:
                    many = min(last - at, dice.choice([1, 1, 5, 50]))
                    level = dice.choice(LEVELS)
                    end = "n" if level.endswith("NONPERSISTENT") else ""
                    numbers = [f"{n}{end}" for n in range(at, at + many)]
                    at += many  # a number is never sent twice, even if nobody knows what became of it
                    db.execute(
                        "select howdah.send_batch('out', %s::text[], priorities => array_fill(%s, array[%s]),"
                        " reliability => %s)",
                        (numbers, dice.randrange(3, 6), many, level),
                    )
                    if dice.random() < 0.1:
                        db.rollback()
                        continue
                    print("\n".join(f"?{number}" for number in numbers), flush=True)
                    db.commit()
                    print("\n".join(numbers), flush=True)
                    time.sleep(dice.random() * pause_ms / 500)
        except psycopg.Error:
            time.sleep(0.05)


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in sys.argv[2:5]))
