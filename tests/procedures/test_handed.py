"""Whether a lease that ran out counts against messages that were never handed to an application."""

from __future__ import annotations

import pytest
from support import Clock, Connect, Db, one, receive, refused


@pytest.mark.behaviour("IMQ-45")
@pytest.mark.parametrize("optimized", [True, False])
@pytest.mark.parametrize("name", ["q", "t::s"])
def test_a_message_claimed_and_never_handed_over_is_redelivered_by_optimization_and_not_without(
    db: Db, connect: Connect, clock: Clock, optimized: bool, name: str
) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's', shared => true)")
    assert one(db, "select (howdah.engine_options() ->> 'redelivered_optimization')::boolean") is True
    admin = connect("howdah_admin")
    one(
        admin,
        "select howdah.alter_engine(jsonb_build_object('imq.redelivered.optimization', %s::boolean))",
        (optimized,),
    )
    for body in ("handed", "prefetched"):
        one(db, "select howdah.send(%s, %s)", (name[0], body))
    rows = db.execute("select lease, message_id, body from howdah.lease(%s, 2, '1 min')", (name,)).fetchall()
    lease, numbers = rows[0][0], {body: number for _, number, body in rows}
    for _ in range(2):
        assert one(db, "select howdah.handed(%s, %s, %s)", (name, lease, [numbers["handed"]])) == 1
    refused(db, "HD026", "select howdah.handed(%s, %s, %s)", (name, lease, [numbers["handed"], 1]))
    refused(db, "HD026", "select howdah.handed(%s, %s)", (name, lease + 1))
    clock.advance(60)
    again = {message.body: (message.redelivered, message.delivery_count) for message in receive(db, name, 9)}
    assert again == {"handed": (True, 2), "prefetched": (True, 2) if optimized else (False, 1)}
    clock.advance(9 * 86400)
    one(db, "select howdah.maintain_attempts()")
    assert one(db, "select count(*) from howdah.handed") == 0
