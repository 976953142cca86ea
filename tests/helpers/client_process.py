"""A client process to be killed: sends and receives at random, noting each in a table of the same transaction."""

from __future__ import annotations

import random
import sys
import time

import psycopg


def step(connection: psycopg.Connection, dice: random.Random) -> None:
    """One transaction."""
    with connection.transaction(force_rollback=dice.random() < 0.25):
        if dice.random() < 0.45:
            number = dice.choice([1, 1, 1, 10, 150])
            if number == 1:
                connection.execute("insert into noted select 'sent', howdah.send('q', 'x'::text)")
            else:
                connection.execute(
                    "insert into noted select 'sent', unnest(howdah.send_batch('q',"
                    " array_fill('x'::text, array[%s::integer])))",
                    (number,),
                )
        else:
            connection.execute(
                "insert into noted select 'received', message_id from howdah.receive('q', %s)",
                (dice.choice([1, 1, 1, 5, 80]),),
            )
        if dice.random() < 0.2:
            time.sleep(dice.random() * 0.02)


def main() -> None:
    """Until killed, or until the server is gone."""
    dice = random.Random(int(sys.argv[2]))
    with psycopg.connect(sys.argv[1], autocommit=True) as connection:
        while True:
            step(connection, dice)


if __name__ == "__main__":
    main()
