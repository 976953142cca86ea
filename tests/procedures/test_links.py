"""A link forwards each message exactly once, wherever it breaks: the steps of a forwarder, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import psycopg
import pytest
from links_support import Steps, bodies, create, in_transit
from support import Connect, Db, column, one, wait_until

from howdah.schema.destinations import LEVELS


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


def test_a_forwarder_needs_no_more_than_to_receive_and_to_send(pair: Pair) -> None:
    """howdah_consumer at the source, howdah_producer at the target."""
    steps = pair.steps()
    steps.source.execute("set role howdah_consumer")
    steps.target.execute("set role howdah_producer")
    steps.source.commit()
    steps.target.commit()
    pair.send("one")
    steps.forward_all()
    assert bodies(pair.b) == ["one"]


def test_commits_of_a_batch_wait_for_the_disk(pair: Pair) -> None:
    """On both sides, whatever the log-in's default is."""
    pair.send("one")
    steps = pair.steps()
    for side in (steps.source, steps.target):
        side.execute("set synchronous_commit = off")
        side.commit()
    steps.arrive(steps.take())
    for side in (steps.source, steps.target):
        assert side.execute("show synchronous_commit").fetchall() == [("on",)]


@pytest.mark.first_case
@pytest.mark.parametrize("wrong", ["host=x password=y", "postgresql://u:p@h/d", "PGPASSWORD", "HOWDAH_", ""])
def test_no_credentials_are_stored(pair: Pair, wrong: str) -> None:
    """A service or a variable of ours is named; a DSN is refused."""
    for option in ("service", "dsn_env"):
        if option == "service" and wrong in ("PGPASSWORD", "HOWDAH_"):
            continue
        with pytest.raises(psycopg.Error) as refused:
            pair.a.execute(
                f"select howdah.create_link('other', 'out', 'in', {option} => %s)".encode(),
                (wrong,),
            )
        assert refused.value.sqlstate == "HD005"


def test_links_are_listed_paused_and_dropped(pair: Pair) -> None:
    """With what waits, what was forwarded, and since when the target is away."""
    pair.send("one", "two")
    states = "select state, waiting, forwarded, away_since is not null, last_error from howdah.list_links()"
    assert pair.a.execute(states).fetchall() == [("idle", 2, 0, False, None)]
    steps = pair.steps()
    steps.forward(1)
    assert pair.a.execute(states).fetchall() == [("running", 1, 1, False, None)]
    assert one(pair.a, "select howdah.link_away('to_b', 'me', 'no route')")
    assert pair.a.execute(states).fetchall() == [("away", 1, 1, True, "no route")]
    assert one(pair.a, "select howdah.pause_link('to_b')")
    assert not one(pair.a, "select howdah.pause_link('to_b')")
    assert steps.take().state == "paused"
    steps.source.commit()
    assert one(pair.a, "select howdah.resume_link('to_b')")
    steps.forward_all()
    assert pair.a.execute(states).fetchall() == [("running", 0, 2, False, "no route")]
    pair.a.execute("select howdah.drop_link('to_b')")
    assert pair.a.execute(states).fetchall() == []
    forgotten = "select howdah.forget_arrivals(link_id) from howdah.list_arrivals()"
    assert one(pair.b, forgotten) == 1
    assert pair.b.execute("select * from howdah.list_arrivals()").fetchall() == []


def test_a_link_is_created_once(pair: Pair) -> None:
    """A second one of that name is refused, and a missing one is said to be missing."""
    with pytest.raises(psycopg.Error) as refused:
        create(pair.a)
    assert refused.value.sqlstate == "HD042"
    with pytest.raises(psycopg.Error) as missing:
        pair.a.execute("select howdah.drop_link('other')")
    assert missing.value.sqlstate == "HD041"


def test_a_link_goes_with_its_queue(pair: Pair) -> None:
    """As listeners do; and with its subscription."""
    pair.a.execute("select howdah.create_topic('news')")
    name = one(pair.a, "select howdah.subscribe('news', 'far')")
    create(pair.a, "news", name)
    assert column(pair.a, "select name from howdah.list_links()") == ["news", "to_b"]
    pair.a.execute("select howdah.drop_queue('out')")
    assert column(pair.a, "select name from howdah.list_links()") == ["news"]
    pair.a.execute("select howdah.unsubscribe(%s)", (name,))
    assert column(pair.a, "select name from howdah.list_links()") == []


def test_a_forwarder_that_hangs_keeps_the_link_for_a_minute_at_most(pair: Pair) -> None:
    """The server ends its transaction, and another forwarder goes on."""
    pair.send("one")
    steps = pair.steps()
    steps.take()
    assert steps.source.execute("show idle_in_transaction_session_timeout").fetchall() == [("1min",)]
    steps.source.execute("set local idle_in_transaction_session_timeout = '50ms'")
    pair.a.execute("update howdah.lock set expires_at = expires_at - interval '1 minute' where name = 'link:to_b'")
    other = pair.steps(holder="another")

    def taken() -> bool:
        state = other.take().state
        if state != "batch":
            other.source.rollback()
        return state == "batch"

    wait_until(taken)


def test_a_forwarder_that_hangs_blocks_the_target_for_a_minute_at_most(pair: Pair) -> None:
    """The target ends its transaction too, and another forwarder goes on."""
    pair.send("one")
    steps = pair.steps()
    steps.arrive(steps.take())
    assert steps.target.execute("show idle_in_transaction_session_timeout").fetchall() == [("1min",)]


def test_a_lease_of_a_link_is_not_for_others(pair: Pair) -> None:
    """Whoever may take any lock cannot stop a link with it."""
    with pytest.raises(psycopg.Error) as refused:
        pair.a.execute("select howdah.acquire_lock('link:to_b', 'somebody')")
    assert refused.value.sqlstate == "HD010"


def test_an_attempt_that_arrives_late_leaves_no_receipts_behind(pair: Pair) -> None:
    """A forwarder hangs, another one forwards its batch, and it wakes up: no receipt stays forever."""
    pair.send("one", "two", "three")
    late = pair.steps()
    taken = late.take()
    late.source.rollback()
    steps = pair.steps()
    steps.forward(2)
    assert late.arrive(taken) == (1, 2)
    late.target.commit()
    assert in_transit(pair.b) == 3
    steps.forward_all()
    assert in_transit(pair.b) == 1
    pair.send("four")
    steps.forward_all()
    assert bodies(pair.b) == ["one", "two", "three", "four"]
    assert in_transit(pair.b) == 1


def test_a_batch_acknowledges_the_one_that_was_committed_last(pair: Pair, connect: Connect) -> None:
    """Though that was committed only after the take had begun."""
    pair.send("one")
    steps = pair.steps()
    blocker = connect()
    with ThreadPoolExecutor(1) as threads:
        with blocker.transaction():
            blocker.execute("lock table howdah.destination_grants in access exclusive mode")
            taking = threads.submit(steps.take)
            pid = steps.source.info.backend_pid
            wait_until(lambda: one(pair.b, "select cardinality(pg_blocking_pids(%s)) > 0", (pid,)))
            committed = one(pair.a, "update howdah.links set batch = 7, attempt = gen_random_uuid() returning attempt")
        taken = taking.result()
    assert (taken.batch, taken.acknowledged) == (8, committed)


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


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["queue", "topic", "bridge"])
def test_what_a_link_brings_outlives_the_forwarders_connection(pair: Pair, kind: str) -> None:
    """Its sender is in the other engine, so nothing goes here when a session of ours ends."""
    option = '{"discard_with_sender": true}'
    pair.b.execute("select howdah.alter_queue('in', %s)", (option,))
    reads = "in"
    if kind != "queue":
        pair.b.execute("select howdah.create_topic('t')")
        pair.b.execute("select howdah.bridge('t', 'in')")
        pair.a.execute("select howdah.alter_link('to_b', target_queue => 't')")
    if kind == "topic":
        pair.b.execute("select howdah.alter_topic('t', %s)", (option,))
        reads = one(pair.b, "select howdah.subscribe('t', 's')")
    for level in LEVELS:
        pair.a.execute("select howdah.send('out', %s, reliability => %s)", (level, level))
    steps = pair.steps()
    steps.forward_all()
    session = steps.target.info.backend_pid
    steps.close()
    wait_until(lambda: one(pair.b, "select count(*) from pg_stat_activity where pid = %s", (session,)) == 0)
    assert one(pair.b, "select howdah.maintain_senders()") == 0
    assert column(pair.b, "select body from howdah.receive(%s, 9)", (reads,)) == list(LEVELS)
