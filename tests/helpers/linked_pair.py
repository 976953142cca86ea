"""Two engines of which a link leads from the first to the second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from links_support import Steps
from support import Db


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
