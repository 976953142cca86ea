"""A link forwards each message exactly once, wherever it breaks: the steps of a forwarder, one by one."""

from __future__ import annotations

import psycopg
import pytest
from linked_pair import Pair
from links_support import Steps, bodies, create, in_transit
from support import column, one


def test_a_message_arrives_once(pair: Pair) -> None:
    """Take, arrive, commit there, commit here."""
    pair.send("one", "two")
    steps = pair.steps()
    assert steps.forward() == 2
    assert steps.forward() == 0
    assert bodies(pair.b) == ["one", "two"]
    assert bodies(pair.a, "out") == []


@pytest.mark.first_case
@pytest.mark.parametrize("at", ["before the target's commit", "after the target's commit", "after both commits"])
def test_a_kill_neither_loses_nor_doubles(pair: Pair, at: str) -> None:
    """Each break before the source's commit brings the same messages again; one after it brings none."""
    pair.send("one", "two")
    steps = pair.steps()
    assert steps.arrive(steps.take()) == (2, 0)
    if at.startswith("after"):
        steps.target.commit()
    if at == "after both commits":
        steps.source.commit()
    steps.close()
    again = pair.steps()
    pair.send("three")
    again.forward_all()
    assert bodies(pair.b) == ["one", "two", "three"]
    assert in_transit(pair.b) == (1 if at == "after both commits" else 3)
    assert one(pair.b, "select repeated from howdah.list_arrivals()") == (2 if at == "after the target's commit" else 0)


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


def test_a_message_that_never_expires_never_does_there(pair: Pair) -> None:
    """Only messages that expire get what is left of their lives."""
    pair.send("one")
    pair.steps().forward()
    assert column(pair.b, "select expires_at from howdah.browse('in')") == [None]


def test_order_within_a_priority_is_kept(pair: Pair) -> None:
    """Priorities first, and in the order of sending within each."""
    for n in range(20):
        pair.a.execute("select howdah.send('out', %s, priority => %s)", (str(n), 4 + n % 2))
    pair.steps().forward_all(7)
    assert bodies(pair.b) == [str(n) for n in [*range(1, 20, 2), *range(0, 20, 2)]]


def test_a_selector_leaves_the_others(pair: Pair) -> None:
    """A link takes what it selects."""
    pair.a.execute("select howdah.alter_link('to_b', selector => 'n > 1')")
    for n in range(4):
        pair.a.execute("select howdah.send('out', %s, headers => %s)", (str(n), f'{{"n": {n}}}'))
    pair.steps().forward_all()
    assert bodies(pair.b) == ["2", "3"]
    assert bodies(pair.a, "out") == ["0", "1"]


def test_a_subscription_is_forwarded(pair: Pair) -> None:
    """A link takes from a topic's subscription, and sends to a topic if told so."""
    pair.a.execute("select howdah.create_topic('news')")
    name = one(pair.a, "select howdah.subscribe('news', 'far')")
    pair.b.execute("select howdah.create_topic('far')")
    far = one(pair.b, "select howdah.subscribe('far', 'reader')")
    create(pair.a, "news", name, "far")
    pair.a.execute("select howdah.send('news', 'one')")
    pair.steps("news").forward_all()
    assert column(pair.b, "select body from howdah.receive(%s, 10)", (far,)) == ["one"]


def test_loops_are_cut(pair: Pair, dsn: str) -> None:
    """Two links between the same two queues: what came from the target stays where it is."""
    create(pair.b, "to_a", "in", "out")
    steps = pair.steps()
    back = Steps(steps.target_dsn, dsn, "to_a")
    pair.send("a1", "a2")
    steps.forward_all()
    pair.b.execute("select howdah.send('in', 'b1')")
    back.forward_all()
    steps.forward_all()
    back.forward_all()
    back.close()
    assert bodies(pair.b) == ["a1", "a2"]
    assert bodies(pair.a, "out") == ["b1"]
    assert one(pair.b, "select loops from howdah.list_links()")


def test_what_the_target_refuses_names_the_messages(pair: Pair) -> None:
    """One by one, so that the others are not to blame; nothing is stored."""
    pair.b.execute("select howdah.alter_queue('in', '{\"max_message_bytes\": 5}')")
    pair.send("short", "far too long", "tiny")
    steps = pair.steps()
    taken = steps.take()
    with pytest.raises(Exception, match="takes at most") as refused:
        steps.arrive(taken)
    cause = refused.value.__cause__
    assert isinstance(cause, psycopg.Error)
    detail = one(pair.a, "select (%s::jsonb -> 0) - 'error_text'", (cause.diag.message_detail,))
    ids = column(pair.a, "select message_id from howdah.browse('out')")
    assert detail == {"message_id": ids[1], "sqlstate": "HD007", "reject": True}
    steps.close()
    assert bodies(pair.b) == []


def test_a_full_queue_is_nobodys_fault(pair: Pair) -> None:
    """The link waits, as it does for a paused queue or a right that is missing."""
    pair.b.execute("select howdah.pause('in')")
    pair.send("one")
    steps = pair.steps()
    with pytest.raises(Exception, match="paused") as refused:
        steps.arrive(steps.take())
    assert getattr(refused.value, "sqlstate", None) == "HD008"


def test_a_batch_is_bounded_by_bytes_whatever_came_before_in_it(pair: Pair) -> None:
    """Many small messages do not let as many large ones in, of whatever mode and priority."""
    pair.a.execute("select howdah.send_batch('out', array_agg('x'::text)) from generate_series(1, 73)")
    large = "select howdah.send('out', repeat('x', 200000), priority => %s, delivery_mode => %s)"
    for number in range(90):
        pair.a.execute(large.encode(), (4 - number % 2, ("persistent", "non-persistent")[number % 2]))
    batches: list[tuple[int, int]] = []
    while batches[-1:] != [(0, 0)]:
        batches += pair.a.execute(
            "select count(*), coalesce(sum(octet_length(m.body)), 0)"
            " from unnest(howdah._link_batch('out', 1000, null, null)) m"
        ).fetchall()
    assert sum(count for count, _ in batches) == 163
    assert batches[0][0] > 73
    assert all(size <= 8_400_000 for _, size in batches)
