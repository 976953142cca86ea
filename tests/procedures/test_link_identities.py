"""A link stops when a database at either end was set back, copied or exchanged for another."""

from __future__ import annotations

import pytest
from linked_pair import Pair
from links_support import bodies
from support import one


def test_a_sender_that_was_set_back_is_stopped(pair: Pair) -> None:
    """Batches that come again with lower numbers tell of a restored database: nothing is lost or doubled unsaid."""
    steps = pair.steps()
    for n in range(3):
        pair.send(str(n))
        steps.forward()
    pair.send("again")
    pair.a.execute("update howdah.links set batch = 1")  # as a restore would leave it
    with pytest.raises(Exception, match="the sending engine was set back") as stopped:
        steps.arrive(steps.take())
    assert getattr(stopped.value, "sqlstate", None) == "HD025"
    steps.close()
    pair.a.execute("select howdah.rebase_link('to_b')")
    pair.steps().forward_all()
    assert bodies(pair.b) == ["0", "1", "2", "again"]


def test_a_target_that_was_set_back_is_told(pair: Pair) -> None:
    """A gap in the numbers of batches tells that arrivals were lost."""
    steps = pair.steps()
    for n in range(3):
        pair.send(str(n))
        steps.forward()
    pair.send("more")
    pair.b.execute("update howdah.link_arrivals set batch = 1")
    with pytest.raises(Exception, match="this engine was set back"):
        steps.arrive(steps.take())


def test_an_identity_that_is_used_again_is_another_message(pair: Pair) -> None:
    """After a failover with lost commits a new message may have an old one's number; it is not taken for that."""
    pair.send("old")
    steps = pair.steps()
    steps.arrive(steps.take())
    steps.target.commit()
    steps.close()
    pair.a.execute("update howdah.msgs set body = 'new', sent_at = sent_at + interval '1 s'")
    pair.steps().forward_all()
    assert bodies(pair.b) == ["old", "new"]


def test_a_copy_of_the_database_forwards_nothing(pair: Pair) -> None:
    """A link belongs to one database."""
    pair.send("one")
    pair.a.execute("update howdah.links set engine_id = gen_random_uuid()")
    with pytest.raises(Exception, match="copy"):
        pair.steps().take()


def test_another_target_is_not_taken_for_the_first(pair: Pair) -> None:
    """A service that leads elsewhere, or a target that was restored elsewhere, stops the link until it is rebased."""
    pair.send("one", "two")
    steps = pair.steps()
    steps.forward(1)
    pair.b.execute("select howdah.new_engine_id()")
    with pytest.raises(Exception, match="another engine than before"):
        pair.steps().take()
    pair.a.execute("select howdah.rebase_link('to_b')")
    pair.steps().forward_all()
    assert bodies(pair.b) == ["one", "two"]


def test_a_copy_of_the_cluster_gets_an_identity_of_its_own(pair: Pair) -> None:
    """Until then, it is taken for the same engine."""
    before = one(pair.a, "select engine_id from howdah.link_engine()")
    assert one(pair.a, "select howdah.new_engine_id()") != before
    assert one(pair.a, "select engine_id from howdah.link_engine()") != before
    steps = pair.steps()
    steps.engine_id = one(pair.a, "select engine_id from howdah.link_engine()")
    with pytest.raises(Exception, match="leads back"):
        steps.take()


def test_another_role_cannot_go_on(pair: Pair) -> None:
    """Receipts cannot be forged by another producer."""
    pair.send("one", "two")
    steps = pair.steps()
    steps.forward(1)
    taken = steps.take(1)
    steps.target.execute("set role howdah_producer")
    with pytest.raises(Exception, match="another role"):
        steps.arrive(taken)
