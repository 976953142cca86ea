"""`howdah audit --link`: what was forwarded is what arrived, but for what is in transit; damage is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from command import Result, howdah
from links_support import Steps, create
from psycopg.conninfo import conninfo_to_dict
from support import Connect, Db, column, one

from howdah.schema.destinations import LEVELS


@dataclass
class Pair:
    """Two engines with a link, over which ten messages went."""

    dsn: str
    a: Db
    b: Db
    steps: Steps

    def audit(self, *more: str) -> Result:
        """Audit the link."""
        return howdah(self.dsn, "audit", "--link", "to_b=far", *more)


@pytest.fixture
def pair(
    dsn: str, connect: Connect, new_engine: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pair]:
    """The target has a service."""
    other = new_engine()
    a = connect()
    lines = [f"{key}={value}" for key, value in conninfo_to_dict(other).items()]
    (tmp_path / "services").write_text("\n".join(["[far]", *lines, ""]))
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    with psycopg.connect(other, autocommit=True) as b:
        a.execute("select howdah.create_queue('out')")
        b.execute("select howdah.create_queue('in')")
        create(a)
        for n in range(10):
            a.execute("select howdah.send('out', %s)", (str(n),))
        steps = Steps(dsn, other)
        steps.forward(4)
        steps.forward(3)
        yield Pair(dsn, a, b, steps)
        steps.close()


def broken(pair: Pair) -> None:
    """An attempt that arrives, and that the sender does not commit."""
    pair.steps.arrive(pair.steps.take(2))
    pair.steps.target.commit()
    pair.steps.source.rollback()


def test_a_link_in_order_is_signed(pair: Pair) -> None:
    """With what is in transit, wherever a forwarder broke."""
    assert pair.audit().out == "link to_b: 7 arrived = 7 forwarded + 0 in transit\n"
    broken(pair)
    assert pair.audit().out == "link to_b: 9 arrived = 7 forwarded + 2 in transit\n"
    pair.steps.forward(1)
    signed = pair.audit("--json")
    assert (signed.code, signed.json) == (
        0,
        [{"link": "to_b", "forwarded": 8, "arrived": 9, "in_transit": 1, "lost": 0, "findings": []}],
    )
    pair.b.execute("select howdah.receive('in', 5)")
    assert pair.audit().code == 0


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("side", "damage", "finding"),
    [
        ("b", "delete from howdah.msgs where message_id in (select local_ids[1] from howdah.link_receipts)", "missing"),
        ("b", "delete from howdah.link_receipts", "in transit"),
        ("b", "update howdah.link_arrivals set arrived = arrived + 1", "arrived"),
        ("a", "update howdah.links set forwarded = forwarded - 1", "forwarded"),
        ("a", "update howdah.links set batch = batch - 1", "batch"),
        ("a", "delete from howdah.msgs", "left their queue"),
        ("a", "select howdah.receive('out', 1)", "left their queue"),
    ],
)
def test_damage_in_transit_is_found(pair: Pair, side: str, damage: str, finding: str) -> None:
    """On both sides, with two messages in transit."""
    broken(pair)
    (pair.a if side == "a" else pair.b).execute(damage.encode())
    said = pair.audit()
    assert said.code == 1
    assert finding in said.out


def lose(pair: Pair) -> None:
    """A message of each level in transit, of which a stop of the sending engine takes three."""
    pair.a.execute("select howdah.purge_queue('out')")
    for level in LEVELS:
        pair.a.execute("select howdah.send('out', %s, reliability => %s)", (level, level))
    pair.steps.arrive(pair.steps.take())
    pair.steps.target.commit()
    pair.steps.source.rollback()
    pair.a.execute("select howdah.quiesce_engine()")
    pair.a.execute("select howdah.stop_engine(interval '10 s')")
    pair.a.execute("select howdah.resume_engine()")


@pytest.mark.slow
def test_what_a_stop_of_the_sender_took_of_messages_in_transit_is_no_finding(pair: Pair) -> None:
    """They may be lost, and have arrived all the same. After a restart of the sender their receipts go."""
    lose(pair)
    assert pair.audit().out == "link to_b: 12 arrived = 7 forwarded + 5 in transit\n"
    taken = pair.steps.take()
    assert taken.started is not None
    assert pair.steps.arrive(replace(taken, started=taken.started + timedelta(hours=1))) == (0, 2)
    pair.steps.target.commit()
    pair.steps.source.commit()
    assert pair.audit().out == "link to_b: 12 arrived = 9 forwarded + 0 in transit + 3 lost at the sender\n"
    assert column(pair.b, "select lost from howdah.list_arrivals()") == [3]
    assert column(pair.b, "select body from howdah.browse('in', 20)")[-5:] == [*LEVELS]


def test_a_non_persistent_message_in_transit_that_somebody_else_took_is_found(pair: Pair) -> None:
    """It was in two hands, and no crash is to blame."""
    pair.a.execute("select howdah.purge_queue('out')")
    pair.a.execute("select howdah.send('out', 'x', reliability => 'EXPRESS_NONPERSISTENT')")
    broken(pair)
    pair.a.execute("select howdah.receive('out', 1)")
    said = pair.audit()
    assert said.code == 1
    assert "left their queue" in said.out


@pytest.mark.first_case
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("crashed", [True, False])
def test_a_message_that_is_gone_without_a_record_is_missing_unless_a_crash_may_take_it(
    pair: Pair, level: str, crashed: bool
) -> None:
    """Before the server's last start, that is, and where it was stored as non-persistent."""
    pair.a.execute("select howdah.purge_queue('out')")
    pair.a.execute("select howdah.send('out', 'x', reliability => %s)", (level,))
    pair.steps.forward()
    for table in ("msgs", "msgs_nonpersistent"):
        pair.b.execute(f"delete from howdah.{table} where body = 'x'".encode())
    if crashed:
        pair.b.execute("update howdah.link_receipts set arrived_at = arrived_at - interval '1 year'")
    said = pair.audit()
    assert ("missing" in said.out) is not (crashed and level in LEVELS[:3])


@pytest.mark.slow
def test_an_audit_waits_for_the_batch_under_way(pair: Pair) -> None:
    """And batches wait for it."""
    with pair.a.transaction():
        pair.a.execute("select howdah.hold_link('to_b')")
        assert pair.steps.take().state == "standby"
        pair.steps.source.rollback()
    pair.steps.take()
    pair.a.execute("set lock_timeout = '100ms'")
    with pytest.raises(psycopg.Error) as refused:
        pair.a.execute("select howdah.hold_link('to_b')")
    assert refused.value.sqlstate == "HD014"


def test_an_auditor_may_audit_a_link(pair: Pair) -> None:
    """On both sides, without other rights."""
    for db in (pair.a, pair.b):
        db.execute("set role howdah_auditor")
    with pair.a.transaction():
        pair.a.execute("select howdah.hold_link('to_b')")
        link, attempt = pair.a.execute("select link_id, attempt from howdah.link_sent('to_b')").fetchall()[0]
    assert one(pair.b, "select arrived from howdah.link_arrived(%s, %s)", (link, attempt)) == 7


@pytest.mark.parametrize("wrong", ["to_b", "=far", "to_b="])
def test_a_link_is_given_with_its_service(dsn: str, wrong: str) -> None:
    """Anything else is wrong usage."""
    assert howdah(dsn, "audit", "--link", wrong).code == 2
