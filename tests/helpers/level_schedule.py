"""Random transactions over all levels by one client, and what may be there after a kill, a crash or a stop.

One client's transactions are on disk in their order. So after a kill there is what was there after one of them: at the
earliest after the last one whose commit waited. After a clean stop it is the last one. Non-persistent messages are gone
in both.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from levels import ASSURED, LEVELS, NONPERSISTENT, WORD, send
from support import Db, column, one

QUEUES = ("a", "b")


@dataclass
class Model:
    """What each state of the database may be."""

    #: By number, of all messages that are there: their level.
    messages: dict[int, str] = field(default_factory=dict)
    #: The persistent messages after each transaction that a crash may lose; the first one is what no crash loses.
    states: list[frozenset[int]] = field(default_factory=lambda: [frozenset()])

    def committed(self, sent: dict[int, str], received: set[int], waited: bool) -> None:
        """A transaction was answered."""
        self.messages.update(sent)
        for number in received:
            del self.messages[number]
        now = frozenset(number for number, level in self.messages.items() if level not in NONPERSISTENT)
        self.states = [now] if waited else [*self.states, now]

    def restarted(self, found: set[int], clean: bool) -> None:
        """Compare with what was found after a restart, and go on from there."""
        allowed = self.states[-1:] if clean else self.states
        assert found in allowed, (
            f"{'stop' if clean else 'kill'}: missing of the last {sorted(self.states[-1] - found)},"
            f" too many {sorted(found - self.states[-1])}; {len(allowed)} states were allowed"
        )
        # What is lost was known; what is here again had been received without waiting.
        levels = self.known | self.messages
        self.messages = {number: levels[number] for number in found}
        self.states = [frozenset(found)]

    #: Levels of all persistent messages ever sent. A number that was lost can be given again.
    known: dict[int, str] = field(default_factory=dict)


def transaction(db: Db, dice: random.Random, model: Model) -> None:
    """Send and receive some, with or without the word, and commit or roll back."""
    word = dice.random() < 0.75
    sent: dict[int, str] = {}
    received: set[int] = set()
    levels: set[str] = set()
    db.execute("begin")
    if word:
        db.execute(WORD)
    for _ in range(dice.randint(1, 4)):
        undone = dice.random() < 0.2
        if undone:
            db.execute("savepoint s")
        new, gone, seen = _step(db, dice)
        if undone:
            db.execute("rollback to savepoint s")
            continue
        sent.update(new)
        received |= gone
        levels |= seen
    if dice.random() < 0.15:
        db.execute("rollback")
        return
    expected = "off" if word and levels and ASSURED not in levels else "on"
    assert one(db, "select current_setting('synchronous_commit')") == expected
    db.execute("commit")
    model.known.update({number: level for number, level in sent.items() if level not in NONPERSISTENT})
    own = received & set(sent)
    # Without the word a commit waits, but one of non-persistent messages alone may have nothing to wait for.
    waited = ASSURED in levels or (not word and not levels <= set(NONPERSISTENT))
    model.committed({n: level for n, level in sent.items() if n not in own}, received - own, waited)


def _step(db: Db, dice: random.Random) -> tuple[dict[int, str], set[int], set[str]]:
    """One call: what it sent, by level, what it received, and the levels that count for the commit."""
    queue = dice.choice(QUEUES)
    kind = dice.random()
    if kind < 0.55:
        level = dice.choice(LEVELS)
        if dice.random() < 0.25:
            query = "select howdah.send_batch(%s, array['x', 'y', 'z'], reliability => %s)"
            return dict.fromkeys(one(db, query, (queue, level)), level), set(), {level}
        return {send(db, level, queue): level}, set(), {level}
    if kind < 0.9:
        rows = db.execute(
            "select message_id, reliability from howdah.receive(%s, %s)", (queue, dice.choice([1, 1, 3]))
        ).fetchall()
        return {}, {number for number, _ in rows}, {level for _, level in rows}
    rows = db.execute("select lease, message_id, reliability from howdah.lease(%s, 2)", (queue,)).fetchall()
    if rows:
        assert one(db, "select howdah.ack(%s, %s)", (queue, rows[0][0])) == len(rows)
    return {}, {number for _, number, _ in rows}, {level for *_, level in rows}


def found(db: Db) -> set[int]:
    """What is there, wherever it lies; a non-persistent message would be found, too."""
    return {
        number for queue in QUEUES for number in column(db, "select message_id from howdah.browse(%s, 10000)", (queue,))
    }
