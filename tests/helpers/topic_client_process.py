"""A client process to be killed.

It publishes, receives as three subscriptions and turns the ring, noting each in the same transaction.
"""

from __future__ import annotations

import random
import sys
import time

import psycopg

SUBSCRIPTIONS = ["t::one", "t::shared", "t::red"]
RETRY = ("40001", "40P01", "55P03", "HD024")


def step(connection: psycopg.Connection, dice: random.Random) -> None:
    """One transaction."""
    chance = dice.random()
    if chance > 0.8:
        connection.execute("update howdah.topic_ring set opened_at = '-infinity' where state = 'open'")
        with connection.transaction(force_rollback=dice.random() < 0.3):
            connection.execute("select howdah.maintain_topics(), howdah.maintain_subscriptions()")
            time.sleep(dice.random() * 0.01)
        return
    with connection.transaction(force_rollback=dice.random() < 0.25):
        if chance < 0.45:
            mode, colour = dice.choice(["persistent", "persistent", "non-persistent"]), dice.choice(["red", "blue"])
            connection.execute(
                "insert into noted select 'sent', unnest(howdah.send_batch('t', array_fill('x'::text, array[n]),"
                " headers => array_fill(jsonb_build_object('colour', %s::text), array[n]),"
                " delivery_mode => %s)), %s, %s"
                " from (select %s::integer) n(n)",
                (colour, mode, mode, colour, dice.choice([1, 1, 10, 100])),
            )
        else:
            name = dice.choice(SUBSCRIPTIONS)
            connection.execute(
                "insert into noted select %s, message_id, delivery_mode, headers ->> 'colour'"
                " from howdah.receive(%s, %s)",
                (name, name, dice.choice([1, 5, 80])),
            )
        if dice.random() < 0.2:
            time.sleep(dice.random() * 0.02)


def main() -> None:
    """Until killed, or until the server is gone."""
    dice = random.Random(int(sys.argv[2]))
    with psycopg.connect(sys.argv[1], autocommit=True) as connection:
        while True:
            try:
                step(connection, dice)
            except psycopg.Error as error:
                if error.sqlstate not in RETRY:
                    raise


if __name__ == "__main__":
    main()
