"""The walk of somebody new: the commands of the README and of the tutorial, in their order, as they are written."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pages import ROOT
from support import one, wait_until

from howdah.engine.embedded import EmbeddedServer

NOT_HERE = ("make ", "pip ", "export HOWDAH_DSN", "howdah audit ", "howdah archive run")
"""Installing, a server that nobody has, and Spark, which takes a minute: what they do is shown elsewhere, or at the end of a walk."""


def parts(page: str) -> Iterator[tuple[str, str]]:
    """Language and text of each block, in order; of a console each command."""
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL):
        if language != "console":
            yield language, text
            continue
        for line in text.splitlines():
            command = re.sub(r"\s+# .*", "", line).removeprefix("$ ")
            if line.startswith("$ ") and not command.startswith(NOT_HERE):
                yield language, command


class Newcomer:
    """Types what stands on a page, in a folder of their own, with a server in a folder of their own and no DSN."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home, self.folder = home, folder
        program = str(Path(sys.executable).parent)
        self._environment = {name: value for name, value in os.environ.items() if name != "HOWDAH_DSN"}
        self._environment |= {"HOWDAH_HOME": str(home), "PATH": f"{program}{os.pathsep}{os.environ['PATH']}"}
        self.workers: list[subprocess.Popen[bytes]] = []

    def type(self, command: str, stdin: str = "") -> str:
        """Run a command; what it prints. It must succeed. An audit starts Spark first."""
        done = subprocess.run(
            shlex.split(command),
            cwd=self.folder,
            env=self._environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def sql(self, script: str) -> str:
        """Type SQL into psql."""
        return self.type("howdah server psql -v ON_ERROR_STOP=1", script)

    def work(self, command: str) -> None:
        """Start a worker."""
        log = (self.folder / "log").open("wb")
        self.workers.append(subprocess.Popen(shlex.split(command), cwd=self.folder, env=self._environment, stderr=log))
        log.close()

    def walk(self, page: str) -> None:
        """All of a page. A worker is given a message that it cannot handle, so that there is something to look at."""
        dead = 0
        for kind, text in parts(page):
            if kind == "sql":
                self.sql(text)
            elif kind == "python" and text.startswith("# shop.py"):
                (self.folder / "shop.py").write_text(text)
            elif kind == "python" and "import" in text:
                subprocess.run([sys.executable, "-c", text], cwd=self.folder, env=self._environment, check=True)
            elif kind == "console" and text.startswith("howdah worker"):
                self.type("howdah send orders unusable")
                self.work(text)
                dead = self.wait_dead()
            elif kind == "console" and text != "howdah server psql":
                self.type(text.replace("42", str(dead)))

    def wait_dead(self) -> int:
        """Wait for a dead message; its number."""
        query = "select max(message_id) from howdah.audit_messages where state = 'dead'"
        wait_until(lambda: self.ask(query) is not None)
        return int(str(self.ask(query)))

    def ask(self, query: str) -> object:
        """What the server answers."""
        info = EmbeddedServer(self.home).status()
        assert info is not None
        with psycopg.connect(info.dsn) as db:
            return one(db, query)


@pytest.fixture
def newcomer(made_folder: Path, tmp_path: Path) -> Iterator[Newcomer]:
    somebody = Newcomer(made_folder, tmp_path)
    yield somebody
    for process in somebody.workers:
        process.terminate()
    assert [process.wait(60) for process in somebody.workers] == [0] * len(somebody.workers)


@pytest.mark.slow
def test_the_readme_can_be_typed_as_it_stands(newcomer: Newcomer) -> None:
    newcomer.walk("README.md")
    wait_until(lambda: newcomer.ask("select count(*) from brewed where item = 'mocha'") == 1)


@pytest.mark.slow
def test_getting_started_can_be_typed_as_it_stands(newcomer: Newcomer) -> None:
    newcomer.walk("docs/getting-started.md")
    wait_until(lambda: newcomer.ask("select count(*) from orders where brewed is not null") == 1)
    assert newcomer.ask("select live from howdah.queue_stats('served')") == 1
    (audit,) = re.findall(r"^\$ (howdah audit .*)", (ROOT / "docs/getting-started.md").read_text(), re.MULTILINE)
    assert "Every message is accounted for." in newcomer.type(audit)
