"""Ours and the peers in turn: batches sent by a client, workers with a handler that does nothing, idle listeners."""

from __future__ import annotations

from functools import partial

from ..engine import HowdahError, Session, connect
from . import facade, latency, listener, pgmq, stream
from .bench import BODY, QUEUE, Bench, timed
from .peers.catalogue import PEERS, Entry
from .peers.environment import Environment, PeerFailed
from .record import OURS
from .servers import Servers

BATCH = 1000


class Peers:
    """The available peers. One that fails is left out from then on and named."""

    def __init__(self, bench: Bench, environment: Environment | None, servers: Servers) -> None:
        self._bench = bench
        self.servers = servers
        self._environment = environment
        self.present: list[Entry] = []
        if environment is None or bench.place.embedded is None:
            return
        versions = bench.record.about.setdefault("versions", {})
        for entry in PEERS:
            try:
                with bench.console.status(f"installing {entry.name}"):
                    versions[entry.name] = environment.bring(entry)
            except PeerFailed as failed:
                self.drop(entry, failed)
            else:
                self.present.append(entry)
                bench.record.settings[entry.name] = f"best: {entry.best}; default: {entry.default}"

    @property
    def wanted(self) -> bool:
        """Whether peers are to be measured at all."""
        return self._environment is not None and self._bench.place.embedded is not None

    def absent(self, name: str, why: str) -> None:
        """Name one that is left out."""
        self._bench.record.absent[name] = why
        self._bench.console.print(f"[yellow]without {name}: {why}[/]", highlight=False)

    def drop(self, entry: Entry, failed: Exception) -> None:
        """Name it and go on without it."""
        self.absent(entry.name, str(failed))
        if entry in self.present:
            self.present.remove(entry)

    def each(self, action: str, turn: int) -> None:
        """Run one of the actions below with each, in the first turns."""
        if turn >= self._bench.size.peer_rounds:
            return
        for entry in list(self.present):
            if ("work" if action in listener.CASES else action) not in entry.actions:
                continue
            try:
                with self.servers.database(entry) as dsn:
                    self._one(entry, action, dsn)
            except (PeerFailed, HowdahError) as failed:
                self.drop(entry, failed)

    def batches(self, row: str, takes: int, turn: int) -> None:
        """pgmq by SQL alone: of its package on our own server, or where the user's server has it."""
        if self._bench.place.embedded is None:
            pgmq.measure(self._bench, self._bench.place.dsn, row, takes)
            return
        if turn >= self._bench.size.peer_rounds:
            return
        for entry in [entry for entry in self.present if entry.name == pgmq.WHO]:
            try:
                with self.servers.database(entry) as dsn:
                    self._install(entry, dsn)
                    pgmq.measure(self._bench, dsn, row, takes)
            except PeerFailed as failed:
                self.drop(entry, failed)

    def facade(self, turn: int) -> None:
        """The real pgmq in the cases of the facade's row. A server of the user's own is left as it is."""
        if self._bench.place.embedded is None or turn >= self._bench.size.peer_rounds:
            return
        for entry in [entry for entry in self.present if entry.name == pgmq.WHO]:
            try:
                with self.servers.database(entry) as dsn:
                    self._install(entry, dsn)
                    facade.one_turn(self._bench, dsn, pgmq.WHO)
            except PeerFailed as failed:
                self.drop(entry, failed)

    def _install(self, entry: Entry, dsn: str) -> Environment:
        assert self._environment is not None
        self._environment.call(entry, dsn, "install")
        return self._environment

    def _one(self, entry: Entry, action: str, dsn: str) -> None:
        environment, bench = self._install(entry, dsn), self._bench
        if action == "latency":
            latency.record(bench, entry.name, environment.call(entry, dsn, "latency", bench.size.samples)[0]["ms"])
            return
        if action == "stream":
            stream.record(bench, entry.name, partial(environment.call, entry, dsn, "stream"))
            return
        messages = listener.messages(bench, action) if action in listener.CASES else bench.size.listened
        share = bench.size.peer_share if messages == bench.size.listened else 1
        sent = int(messages * min(share, entry.share)) // BATCH * BATCH or BATCH
        seconds = environment.call(entry, dsn, "send", sent, BATCH)[0]["seconds"]
        if action == "send":
            bench.record.add("send-1000", CASE_SEND, entry.name, "/s", sent / seconds)
            return
        processes, at_best = listener.CASES[action]
        mode = "best" if at_best else "default"
        lines = environment.call(entry, dsn, "work", mode, sent, processes=processes)
        lines = [line for line in lines if line["count"] > 1]
        if not lines:
            raise PeerFailed(f"{entry.name} handled nothing")
        taken = max(line["last"] for line in lines) - min(line["first"] for line in lines)
        bench.record.add("listener", action, entry.name, "/s", sum(line["count"] for line in lines) / taken)


CASE_SEND = "by one Python or Node client"


def _send(session: Session) -> None:
    session.send_many(QUEUE, [BODY] * BATCH)
    session.commit()


def send(bench: Bench, peers: Peers) -> None:
    """Batches of 1,000 bodies, a transaction each."""
    batches = bench.size.listened // BATCH
    for turn in range(bench.size.rounds):
        with bench.database() as dsn, connect(dsn, max_size=1) as connection, connection.session() as session:
            _send(session)
            with bench.meter() as meter:
                seconds = timed(partial(_send, session), batches)
        cost = meter.cost(batches * BATCH)
        bench.record.add("send-1000", CASE_SEND, OURS, "/s", batches * BATCH / seconds, cost=cost)
        peers.each("send", turn)


def listen(bench: Bench, peers: Peers) -> None:
    """Every case, ours and then each peer, ``rounds`` times."""
    bench.record.settings[OURS] = listener.settings()
    for turn in range(bench.size.rounds):
        for case in listener.CASES:
            listener.run(bench, case)
            if listener.CASES[case][0] <= bench.size.peer_processes:
                peers.each(case, turn)


def wait(bench: Bench, peers: Peers) -> None:
    """An idle listener, ours, the bare one and each peer's."""
    with bench.database() as dsn:
        for turn in range(bench.size.rounds):
            latency.record(bench, latency.BARE, latency.bare(dsn, bench.size.samples))
            latency.record(bench, OURS, latency.ours(dsn, bench.size.samples))
            peers.each("latency", turn)
