"""A message that the target refuses follows the source's poison policy; the others arrive."""

from __future__ import annotations

import threading

import pytest
from forwarding_support import forwarding
from links_support import bodies, create
from support import Db, column, one, wait_until

from howdah.workers.links import Forwarder


def test_what_the_target_refuses_follows_the_poison_policy(dsn: str, a: Db, b: Db) -> None:
    """A message that is too large goes to the exception destination at once, with its incident; the others arrive."""
    create(a)
    b.execute("select howdah.alter_queue('in', '{\"max_message_bytes\": 5}')")
    for body in ("one", "far too long", "two"):
        a.execute("select howdah.send('out', %s)", (body,))
    with forwarding(dsn):
        wait_until(lambda: bodies(b) == ["one", "two"])
    dead = a.execute(
        "select origin_queue, body from howdah.browse((select '_SYSTEM.Exception.Destination.' || name"
        " from howdah.engine), 10)"
    )
    assert dead.fetchall() == [("out", "far too long")]
    incident = a.execute("select error_class, sqlstate, error_text from howdah.incidents('out')").fetchall()
    assert len(incident) == 1
    assert incident[0][:2] == ("LinkRefused", "HD007")
    assert "at most 5" in incident[0][2]


def test_a_missing_queue_counts_as_failures_of_each_message(dsn: str, a: Db, b: Db) -> None:
    """With the source's delays and limit, as a handler's failures do."""
    create(a, target="nowhere")
    a.execute("select howdah.alter_queue('out', '{\"max_failed_deliveries\": 2, \"redelivery_delay_ms\": 0}')")
    a.execute("select howdah.send('out', 'one')")
    with forwarding(dsn):
        wait_until(lambda: bodies(a, "out") == [])
    assert column(a, "select sqlstate from howdah.incidents('out')") == ["HD001"] * 2


def test_a_message_that_is_refused_without_end_is_tried_less_and_less_often(dsn: str, a: Db, b: Db) -> None:
    """Where the policy has neither a limit nor a delay. Each attempt leaves an incident."""
    create(a, target="nowhere")
    a.execute("select howdah.alter_queue('out', '{\"max_failed_deliveries\": 0, \"redelivery_delay_ms\": 0}')")
    a.execute("select howdah.send('out', 'one')")
    stopping = threading.Event()
    forwarder = Forwarder(dsn, "to_b", "me", stopping)
    pauses = [forwarder.run_once() for _ in range(6)]
    assert pauses[0] > 0
    assert pauses[-1] > 8 * pauses[0]
    b.execute("select howdah.create_queue('nowhere')")
    assert forwarder.run_once() == 0
    assert bodies(b, "nowhere") == ["one"]
    stopping.set()
    forwarder.run()  # it closes its connections


@pytest.mark.behaviour("SIB-12")
def test_a_level_above_the_targets_highest_goes_to_the_exception_destination(dsn: str, a: Db, b: Db) -> None:
    """At once, for no other try could help."""
    create(a)
    b.execute(
        'select howdah.alter_queue(\'in\', \'{"max_reliability": "RELIABLE_NONPERSISTENT",'
        ' "default_reliability": "RELIABLE_NONPERSISTENT"}\')'
    )
    a.execute("select howdah.send('out', 'assured'), howdah.send('out', 'express', delivery_mode => 'non-persistent')")
    with forwarding(dsn):
        wait_until(lambda: bodies(b) == ["express"])
        wait_until(lambda: bodies(a, "out") == [])
    assert column(a, "select sqlstate from howdah.incidents('out')") == ["HD039"]


def test_what_is_refused_of_a_subscription_is_set_aside(dsn: str, a: Db, b: Db) -> None:
    """By the policy of the subscription; the rest of the topic arrives."""
    a.execute("select howdah.create_topic('news')")
    source = one(a, "select howdah.subscribe('news', 'far')")
    create(a, queue=source)
    b.execute("select howdah.alter_queue('in', '{\"max_message_bytes\": 5}')")
    for body in ("one", "far too long", "two"):
        a.execute("select howdah.send('news', %s)", (body,))
    with forwarding(dsn):
        wait_until(lambda: bodies(b) == ["one", "two"])
    assert column(a, "select sqlstate from howdah.incidents(%s)", (source,)) == ["HD007"]
