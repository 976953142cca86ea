"""Compare with ActiveMQ on the same server or its own files: one persistent message a transaction, clients in Java."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict

from .bench import QUEUE, Bench
from .clients import Peers
from .peers.catalogue import missing
from .peers.environment import HERE, PeerFailed, debian
from .record import OURS

ROW = "broker"
NAME = "ActiveMQ"
STORES = {"jdbc": f"{NAME}, JDBC store", "kahadb": f"{NAME}, KahaDB"}
CLIENTS = (1, 4)
LIMIT = 120
JARS = Path("/usr/share/java")
#: Each jar with Debian's package that brings it.
NEEDS = (
    *(
        (str(JARS / f"{jar}.jar"), "activemq")
        for jar in (
            "activemq-broker",
            "activemq-client",
            "activemq-jdbc-store",
            "activemq-kahadb-store",
            "activemq-openwire-legacy",
            "activemq-protobuf",
            "geronimo-jms_1.1_spec",
            "geronimo-j2ee-management-1.1-spec",
            "hawtbuf",
            "slf4j-api",
            "slf4j-nop",
        )
    ),
    (str(JARS / "postgresql.jar"), "libpostgresql-jdbc-java"),
    ("javac", "default-jdk-headless"),
)
HEAP = "-Xmx512m"
SETTINGS = (
    f"its defaults, {HEAP} as Debian sets it, in a process of its own, over TCP; persistent send, transacted receive,"
    f" a commit each;"
    " JDBC store: PGPoolingDataSource of 20 connections, as its example; KahaDB: journalDiskSyncStrategy always."
    " Howdah by JDBC"
)
PROGRAM = HERE / "Broker.java"
#: Howdah, by the same program.
STATEMENTS = {
    "SEND": f"select howdah.send('{QUEUE}', ?::text)",
    "RECEIVE": f"select howdah.receive('{QUEUE}')",
}


def jdbc(dsn: str) -> str:
    """The DSN as a URL for JDBC."""
    given = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    account = urlencode({"user": given["user"], "password": given.get("password", "")})
    return f"jdbc:postgresql://{given['host']}:{given['port']}/{given['dbname']}?{account}"


def command(*words: object) -> list[str]:
    """The Java program, compiled as it starts."""
    path = os.pathsep.join(file for file, _ in NEEDS if file.endswith(".jar"))
    return ["java", HEAP, "-cp", path, str(PROGRAM), *map(str, words)]


def clients(kind: str, url: str, verb: str, number: int, messages: int) -> float:
    """Messages a second of so many clients. Raises PeerFailed."""
    words = command(kind, url, verb, number, messages)
    try:
        done = subprocess.run(
            words, env=os.environ | STATEMENTS, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise PeerFailed(f"{kind} {verb}: no end within {LIMIT} seconds") from error
    if done.returncode or not done.stdout.strip():
        raise PeerFailed(f"{kind} {verb}: {done.stderr.strip()[-300:]}")
    return messages / float(json.loads(done.stdout.splitlines()[-1])["seconds"])


@contextmanager
def broker(store: str, dsn: str) -> Iterator[str]:
    """A broker with an empty store: its URL."""
    folder = tempfile.mkdtemp(prefix="howdah-bench-")
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command("broker", store, folder),
            env=os.environ | {"STORE": jdbc(dsn)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            if not (url := process.stdout.readline().strip()):
                said.seek(0)
                raise PeerFailed(f"the broker did not start: {said.read().strip()[-300:]}")
            yield url
        finally:
            process.kill()
            process.wait()
            shutil.rmtree(folder, ignore_errors=True)


def measure(bench: Bench, peers: Peers) -> None:
    """Send and receive, ours and each store of ActiveMQ in turn; nothing where a part of it is missing."""
    if not peers.wanted:
        return
    if lacking := missing(NEEDS):
        peers.absent(NAME, lacking)
        return
    bench.record.about.setdefault("versions", {})[NAME] = debian("activemq")
    bench.record.settings[NAME] = SETTINGS
    try:
        for _ in range(min(bench.size.rounds, bench.size.peer_rounds)):
            for number in CLIENTS:
                with bench.database() as dsn:
                    _both(bench, OURS, "jdbc", jdbc(dsn), number)
                for store, who in STORES.items():
                    with bench.place.database(empty=True) as dsn, broker(store, dsn) as url:
                        _both(bench, who, "jms", url, number)
    except PeerFailed as failed:
        peers.absent(NAME, str(failed))


def _both(bench: Bench, who: str, kind: str, url: str, number: int) -> None:
    messages = max(100, bench.size.messages // 2)
    for verb in ("send", "receive"):
        case = f"{verb}, {number} client{'s' * (number > 1)}"
        bench.record.add(ROW, case, who, "/s", clients(kind, url, verb, number, messages))
