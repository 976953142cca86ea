"""A link forwards each message exactly once, wherever it breaks: the steps of a forwarder, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import psycopg
import pytest
from links_support import Steps, bodies, create, in_transit
from support import Connect, Db, column, one


@dataclass
class Pair:
    """A queue "out" of one engine that a link "to_b" leads from, and a queue "in" of another."""

    a: Db
    b: Db
    steps: Callable[..., Steps]

    def send(self, *bodies: str) -> None:
        """Send to the source."""
        for body in bodies:
            self.a.execute("select howdah.send('out', %s)", (body,))


@pytest.fixture
def pair(dsn: str, connect: Connect, new_engine: Callable[[], str]) -> Iterator[Pair]:
    """Two engines with a link from the first to the second."""
    other = new_engine()
    a = connect()
    with psycopg.connect(other, autocommit=True) as b, ExitStack() as opened:

        def steps(name: str = "to_b", holder: str = "me") -> Steps:
            made = Steps(dsn, other, name, holder)
            opened.callback(made.close)
            return made

        a.execute("select howdah.create_queue('out')")
        b.execute("select howdah.create_queue('in')")
        create(a)
        yield Pair(a, b, steps)


def test_a_message_arrives_once(pair: Pair) -> None:
    """Take, arrive, commit there, commit here."""
    pair.send("one", "two")
    steps = pair.steps()
    assert steps.forward() == 2
    assert steps.forward() == 0
    assert bodies(pair.b) == ["one", "two"]
    assert bodies(pair.a, "out") == []


@pytest.mark.parametrize("at", ["before the target's commit", "after the target's commit"])
def test_a_kill_neither_loses_nor_doubles(pair: Pair, at: str) -> None:
    """Each break before the source's commit brings the same messages again."""
    pair.send("one", "two")
    steps = pair.steps()
    assert steps.arrive(steps.take()) == (2, 0)
    if at.startswith("after"):
        steps.target.commit()
    steps.close()
    again = pair.steps()
    pair.send("three")
    again.forward_all()
    assert bodies(pair.b) == ["one", "two", "three"]
    assert in_transit(pair.b) == 3
    assert one(pair.b, "select repeated from howdah.list_arrivals()") == (2 if at.startswith("after") else 0)


def test_receipts_go_with_the_next_batch(pair: Pair) -> None:
    """Those of a committed batch are pruned when the next one comes, whenever that is."""
    steps = pair.steps()
    for n in range(3):
        pair.send(f"first {n}", f"second {n}")
        steps.forward()
        assert in_transit(pair.b) == 2


def test_a_message_left_behind_by_a_broken_attempt_is_not_forgotten(pair: Pair) -> None:
    """Receipts belong to the attempt that brought a message last: the commit of another one does not prune them."""
    pair.send("a", "b", "c", "d")
    steps = pair.steps()
    assert steps.arrive(steps.take(4)) == (4, 0)
    steps.target.commit()
    steps.close()
    again = pair.steps()
    pair.a.execute("select howdah.send('out', 'urgent', priority => 9)")
    for _ in range(5):
        assert again.forward(1) == 1
    assert again.forward(1) == 0
    assert bodies(pair.b) == ["urgent", "a", "b", "c", "d"]


def test_a_batch_keeps_all_that_a_message_has(pair: Pair) -> None:
    """Headers, priority, correlation, reply, type, conversation, mode and bytes; the way stands in two headers."""
    conversation = "0f8fad5b-d9cb-469f-a165-70867728950e"
    pair.a.execute(
        "select howdah.send('out', '\\x00ff'::bytea, headers => '{\"n\": 1.50}', priority => 7, correlation_id => 'c',"
        " reply_to => 'answers', message_type => 't', conversation_id => %s, time_to_live => '1 hour',"
        " delivery_mode => 'non-persistent', content_type => 'image/x')",
        (conversation,),
    )
    pair.a.execute("""select howdah.send('out', jsonb '{"k": "ü\\"\\\\"}')""")
    pair.steps().forward()
    rows = pair.b.execute(
        "select bytes, headers - 'JMS_Howdah_Origin' - 'JMS_Howdah_Route', priority, correlation_id, reply_to,"
        " message_type, conversation_id::text, delivery_mode, content_type, headers ->> 'JMS_Howdah_Origin',"
        " headers ->> 'JMS_Howdah_Route', expires_at - sent_at, body from howdah.browse('in')"
    ).fetchall()
    first = rows[0]
    assert first[:9] == (
        b"\x00\xff",
        {"n": 1.50},
        7,
        "c",
        "answers",
        "t",
        conversation,
        "non-persistent",
        "image/x",
    )
    engine = one(pair.a, "select name from howdah.engine")
    assert first[9].startswith(f"{engine}/out/")
    assert first[10] == one(pair.a, "select engine_id::text from howdah.link_engine()")
    assert 3500 < first[11].total_seconds() <= 3600.1
    assert rows[1][12] == '{"k": "ü\\"\\\\"}'


def test_only_one_forwarder_has_a_batch(pair: Pair) -> None:
    """Another one stands by, whether the first has a batch under way or rests between two."""
    pair.send("one")
    steps, other = pair.steps(), pair.steps(holder="another")
    assert steps.take().state == "batch"
    assert other.take().state == "standby"
    other.source.rollback()
    steps.source.rollback()
    steps.take()
    steps.source.commit()
    assert other.take().state == "standby"
