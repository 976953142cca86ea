"""How to start the consumers of examples/, in Java, Node and Go."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

import runtimes
from psycopg.conninfo import conninfo_to_dict

EXAMPLES = Path(__file__).parents[2] / "examples"

Start = Callable[..., tuple[list[str], dict[str, str]]]
"""From a folder and the DSNs to a command and its environment."""


def jdbc(dsn: str) -> str:
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    account = urlencode({"user": parts["user"], "password": parts.get("password", ""), "prepareThreshold": 0})
    return f"jdbc:postgresql://{parts['host']}:{parts['port']}/{parts['dbname']}?{account}"


def java(folder: Path, *dsns: str) -> tuple[list[str], dict[str, str]]:
    start = [str(runtimes.java()), "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", str(runtimes.jdbc_jar())]
    return [*start, str(EXAMPLES / "Consumer.java"), "orders", *map(jdbc, dsns)], {}


def url(dsn: str, **parameters: str) -> str:
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    password = f":{parts['password']}" if "password" in parts else ""
    return f"postgresql://{parts['user']}{password}@{parts['host']}:{parts['port']}/{parts['dbname']}?{urlencode(parameters)}"


def node(folder: Path, *dsns: str) -> tuple[list[str], dict[str, str]]:
    (folder / "node_modules").symlink_to(runtimes.node_modules())
    (folder / "consumer.mjs").write_text((EXAMPLES / "consumer.mjs").read_text())
    return ["node", str(folder / "consumer.mjs"), "orders", *map(url, dsns)], {}


def go_packages(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Fit the program to the pgx that is here; return Go's environment, and the parameters that a DSN needs."""
    version, gopath = runtimes.pgx()
    source = (EXAMPLES / "consumer.go").read_text()
    if version == "v4":  # what Debian 12 has; there pgconn is a module of its own, and the rest that we use is the same
        source = source.replace("jackc/pgx/v5/pgconn", "jackc/pgconn").replace("jackc/pgx/v5", "jackc/pgx/v4")
    (folder / "consumer.go").write_text(source)
    environment = {
        "GOPATH": str(gopath),
        "GO111MODULE": "off",
        "GOFLAGS": "",
        "GOCACHE": str(runtimes.ROOT / "build/go"),
    }
    cache = {"statement_cache_capacity": "0"} if version == "v4" else {"default_query_exec_mode": "exec"}
    return environment, {"sslmode": "disable", **cache}


def go(folder: Path, *dsns: str) -> tuple[list[str], dict[str, str]]:
    environment, prepared = go_packages(folder)
    program = folder / "consumer"
    subprocess.run(
        ["go", "build", "-o", str(program), str(folder / "consumer.go")], check=True, env={**os.environ, **environment}
    )
    return [str(program), "orders", *(url(dsn, **prepared) for dsn in dsns)], environment


class Said(list[str]):
    """What a consumer says, line by line as it comes."""

    process: subprocess.Popen[str]


@contextmanager
def running(command: list[str], environment: dict[str, str], folder: Path | None = None) -> Iterator[Said]:
    """A consumer, until the end of the block."""
    said = Said()
    consumer = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # go run starts a program of its own
    )
    assert consumer.stdout is not None
    said.process = consumer
    reading = threading.Thread(
        target=lambda lines: said.extend(line.strip() for line in lines), args=(consumer.stdout,)
    )
    reading.start()
    try:
        yield said
    finally:
        with suppress(ProcessLookupError):
            os.killpg(consumer.pid, signal.SIGKILL)
        consumer.wait()
        reading.join()
        consumer.stdout.close()
