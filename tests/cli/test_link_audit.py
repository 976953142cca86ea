"""`howdah audit --link`: what was forwarded is what arrived, but for what is in transit; damage is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from command import Result, howdah
from links_support import Steps, create
from psycopg.conninfo import conninfo_to_dict
from support import Connect, Db, one


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
        [{"link": "to_b", "forwarded": 8, "arrived": 9, "in_transit": 1, "findings": []}],
    )
    pair.b.execute("select howdah.receive('in', 5)")
    assert pair.audit().code == 0


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
