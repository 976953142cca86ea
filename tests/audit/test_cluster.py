"""The audit on a real standalone cluster of Spark: a master, two workers, spark-submit, and the wheel."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyspark
import pytest
from pages import blocks
from support import Db, wait_until

from howdah.audit.driver import find_driver
from howdah.audit.java import find_java

from .traffic import live_through_everything

BIN = Path(pyspark.__file__).parent / "bin"
MEMORY = "512m"
ROOT = Path(__file__).parents[2]
PACKED = ("pyproject.toml", "README.md", "LICENSE")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    mine = {
        "JAVA_HOME": str(find_java().home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
    }
    return os.environ | mine | {"PYSPARK_PYTHON": sys.executable, "SPARK_DAEMON_MEMORY": "256m"}


@pytest.fixture
def master(tmp_path: Path, environment: dict[str, str]) -> Iterator[str]:
    """The URL of a master with two workers of one core."""
    url = f"spark://127.0.0.1:{free_port()}"
    log = tmp_path / "cluster.log"
    with ExitStack() as stack, log.open("w") as written:

        def start(kind: str, *words: str) -> None:
            command = [
                BIN / "spark-class",
                f"org.apache.spark.deploy.{kind}",
                "--host",
                "127.0.0.1",
                "--webui-port",
                "0",
            ]
            process = subprocess.Popen(
                [*map(str, command), *words], env=environment, stdout=written, stderr=written, start_new_session=True
            )
            stack.callback(process.wait)
            stack.callback(os.killpg, process.pid, signal.SIGKILL)

        start("master.Master", "--port", url.rpartition(":")[2])
        wait_until(lambda: "New state: ALIVE" in log.read_text(), 120)
        for _ in range(2):
            start("worker.Worker", "--cores", "1", "--memory", MEMORY, url)
        wait_until(lambda: log.read_text().count("Successfully registered with master") == 2, 120)
        yield url


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """The wheel, built from a copy: a build leaves folders of its own beside what it packs."""
    source = tmp_path / "source"
    source.mkdir()
    for name in PACKED:
        shutil.copy(ROOT / name, source)
    # Its links are followed, as the build follows them.
    shutil.copytree(ROOT / "src" / "howdah", source / "src" / "howdah", ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, source]
    built = subprocess.run(list(map(str, pip)), capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    (path,) = tmp_path.glob("howdah-*.whl")
    return path


@pytest.mark.slow
def test_the_same_audit_runs_by_spark_submit_on_a_standalone_cluster_of_two_workers(
    dsn: str, db: Db, master: str, wheel: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    jar = find_driver().jar
    if jar is None:
        pytest.skip("no PostgreSQL JDBC driver on this machine")
    live_through_everything(db, "q", "full")
    # Found before what is installed, and after what spark-submit brings along: none but the wheel's modules can be
    # used.
    other = tmp_path / "other" / "howdah"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise ImportError('Howdah was not taken from the wheel')\n")
    settings = tmp_path / "conf"
    settings.mkdir()
    (settings / "spark-defaults.conf").write_text(f"spark.executor.memory {MEMORY}\nspark.ui.enabled false\n")
    (line,) = (block for block in blocks("docs/audit.md", "bash") if block.startswith("spark-submit"))
    for shown, here in (
        ("spark://spark.example:7077", master),
        ("/usr/share/java/postgresql.jar", jar),
        ("dist/howdah-0.1.0-py3-none-any.whl", wheel),
        ("postgresql://auditor@db.example/app", dsn),
        ("/shared/audits/2026-05-01", tmp_path / "out"),
    ):
        assert shown in line
        line = line.replace(shown, shlex.quote(str(here)))
    done = subprocess.run(
        ["bash", "-c", f"{line.rstrip()} --json"],
        cwd=ROOT,
        env=environment
        | {
            "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
            "PYTHONPATH": str(other.parent),
            "SPARK_CONF_DIR": str(settings),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-1000:]
    result = json.loads(done.stdout[done.stdout.index("{") :])  # spark-submit puts warnings of Python before it
    assert result["ok"]
    assert {queue["queue"]: queue["sent"] for queue in result["queues"]}["q"] == 28
    assert len(set(re.findall(r"Launching executor \S+ on worker (\S+)", (tmp_path / "cluster.log").read_text()))) == 2

    # The same by the command, whose driver runs here.
    words = ["audit", "--master", master, "--output", tmp_path / "again", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "howdah.cli.main", *map(str, words)],
        env=environment | {"HOWDAH_DSN": dsn, "SPARK_CONF_DIR": str(settings)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-1000:]
    again = json.loads(done.stdout)
    assert (again["ok"], again["queues"]) == (True, result["queues"])

    assert list((tmp_path / "out" / "journal").glob("part-*.parquet"))
    assert (tmp_path / "out" / "index.html").read_text().startswith("<!doctype html>")
