"""Random transactions over all levels, kills and stops, and an exact checker of what each level allows."""

from __future__ import annotations

import os

import chance
import pytest
from killed import kill
from level_schedule import QUEUES, Model, found, transaction
from levels import make_sleepy, open_db
from support import one

from howdah.engine.embedded import EmbeddedServer

#: Ends of a server, each after some transactions. `make chaos` makes 100.
ENDS = int(os.environ.get("HOWDAH_TEST_CRASHES") or 0)


@pytest.mark.first_case
@pytest.mark.behaviour("SIB-20")
@pytest.mark.behaviour("SIB-24")
@pytest.mark.parametrize("sleeps", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ends", [ENDS or 4, pytest.param(ENDS or 60, marks=pytest.mark.slow)])
def test_after_kills_and_stops_there_is_what_the_levels_allow(
    private_server: EmbeddedServer, ends: int, sleeps: bool
) -> None:
    if sleeps:
        make_sleepy(private_server)
    dice = chance.dice()
    model = Model()
    with open_db(private_server) as db:
        for queue in QUEUES:
            one(db, "select howdah.create_queue(%s)", (queue,))
    stops = lost = 0
    for _ in range(ends):
        with open_db(private_server) as db:
            for _ in range(dice.randint(1, 40)):
                transaction(db, dice, model)
            clean = dice.random() < 0.3
            if not clean:
                kill(private_server)
        if clean:
            private_server.stop("fast")
        before = model.states[-1]
        with open_db(private_server) as db:
            here = found(db)
            model.restarted(here, clean)
        stops += clean
        lost += here != before
    print(f"{ends} ends, {stops} of them clean; {lost} lost some commits that did not wait")
