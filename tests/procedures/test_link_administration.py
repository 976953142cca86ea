"""Administrators create, list, pause and drop links, which store no credentials and go with their queues."""

from __future__ import annotations

import psycopg
import pytest
from linked_pair import Pair
from links_support import create
from support import column, one


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
