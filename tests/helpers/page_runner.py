"""Runs the code blocks of a page, in order, as somebody who reads it does.

- ```sql goes to psql, in one session for the page. What it prints follows in a block of text, or stands beside it
  after `-- →`: each row as psql prints it unaligned.
- ```console: bash runs each line that begins with `$ `, in one shell for the page. The lines below are its output. A
  command in the background (`&`) is stopped at the page's end. `# exits 1` says how a command ends that fails.
- A block with a title (```python title="shop.py") is written to that file, in the page's folder.
- ```python without a title is a program. After `<!-- python: one session -->` all such blocks are one program, whose
  later blocks know the names of the earlier ones. They may await.
- ```bash is not run here, and nor is a block in another language. `test_shell_blocks.py` says why, or runs it.

`…` stands for anything in an output; alone on a line, for any lines. The width of columns does not count. An output
that the page does not show is not compared, but nothing may fail that the page does not show failing.

Readers do not see `<!-- run: sql` (or console, or python), which ends with a line `-->`: it prepares what follows.
`<!-- until: select … -->` waits until the query says true, as a reader would wait.

A page that starts the embedded server gets one in a folder of its own, without a DSN. One that says `howdah migrate`
gets an empty database, all others one with Howdah in it.
"""

from __future__ import annotations

import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import psycopg
import pytest
import python_session
from pages import ROOT, Part, commands, parts
from support import column, identifier, one, wait_until

from howdah.engine.embedded import EmbeddedServer

TIMEOUT = 300
"""Seconds that a command may take: an audit starts Spark."""

_END = "-- end of what was said --"


class Talk:
    """A program that is told one thing after the other, and answers each."""

    def __init__(self, program: list[str], end: str, folder: Path, environment: dict[str, str]) -> None:
        self._end = end
        self._process = subprocess.Popen(
            program,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # notices are among what a page shows
            start_new_session=True,  # so that what it started ends with it
        )

    def say(self, text: str) -> tuple[str, str]:
        """What it prints, and what it says of the end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{text}\n{self._end}\n".encode())
        self._process.stdin.flush()
        printed, deadline = b"", time.monotonic() + TIMEOUT
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while (ended := re.search(rf"{_END}(.*)\n".encode(), printed)) is None:
                if not selector.select(deadline - time.monotonic()):
                    self.close()
                    raise AssertionError(f"no answer to {text}\n{printed.decode()}")
                more = os.read(self._process.stdout.fileno(), 1 << 16)
                assert more, f"the end, after {text}\n{printed.decode()}"
                printed += more
        return printed[: ended.start()].decode(), ended[1].decode().strip()

    @property
    def runs(self) -> bool:
        """Whether it can be told anything."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it, and whatever it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


class Reader:
    """Somebody who does what a page says."""

    def __init__(self, folder: Path, database: str | Path, bin_folder: Path | None) -> None:
        """The database is a DSN, or the folder of a server that the page starts."""
        self._folder, self._database = folder, database
        programs = [str(Path(sys.executable).parent), *([str(bin_folder)] if bin_folder else [])]
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HOWDAH_DSN", "HOWDAH_HOME", "PG", "PYTEST"))
        }
        self._environment |= {"PATH": os.pathsep.join([*programs, os.environ["PATH"]]), "PAGER": "", "COLUMNS": "120"}
        self._environment |= {"HOWDAH_DSN" if isinstance(database, str) else "HOWDAH_HOME": str(database)}
        self._background = folder.parent / f"{folder.name}.log"
        self._stack = ExitStack()
        self._psql: Talk | None = None
        self._bash: Talk | None = None
        self._program: Talk | None = None

    def close(self) -> None:
        """Stop what was started."""
        try:
            if self._bash is not None and self._bash.runs:
                # As the reader does: a worker in the middle of a message finishes it.
                self._bash.say("kill $(jobs -p) 2>/dev/null; wait")
        finally:
            self._stack.close()

    @property
    def dsn(self) -> str:
        """The database, as soon as its server runs."""
        if isinstance(self._database, str):
            return self._database
        info = EmbeddedServer(self._database).status()
        assert info is not None, "the page starts no server"
        return info.dsn

    def read(self, page: str) -> None:
        """Do all that the page says."""
        doings: dict[str, Callable[[Part], None]] = {
            "sql": self._sql,
            "console": self._console,
            "python": self._python,
            "until": self._until,
            "session": self._session,
        }
        for part in parts(page):
            try:
                if part.title:
                    path = self._folder / part.title
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(part.text)
                elif part.language in doings:
                    doings[part.language](part)
            except AssertionError as error:
                background = self._background.read_text()[-5000:] if self._background.exists() else ""
                raise AssertionError(f"{part}\n{error}\n\nIn the background:\n{background}") from None

    def _sql(self, part: Part) -> None:
        if self._psql is None:
            program = ["psql", "-X", "-d", self.dsn]
            self._psql = Talk(program, f"\\! echo '{_END}'", self._folder, self._environment)
            self._stack.callback(self._psql.close)
        *_, last = (line for line in part.text.splitlines() if not line.startswith("--"))
        assert re.search(r";\s*(--.*)?$|^\\\w|\\(g|watch)", last), "psql would wait for the end of the last statement"
        beside = re.findall(r"-- → (.*)", part.text)
        if beside:
            self._psql.say("\\pset format unaligned\n\\pset tuples_only on\n\\set QUIET on")
        printed, _ = self._psql.say(part.text)
        if beside:
            self._psql.say("\\set QUIET off\n\\pset format aligned\n\\pset tuples_only off")
            check_in_order(beside, printed)
        elif part.shown is not None:
            check(part.shown, printed)
        expected = (part.shown or "") + "".join(beside)
        assert "ERROR:" in expected or not re.search("^ERROR: ", printed, re.MULTILINE), printed

    def _console(self, part: Part) -> None:
        if self._bash is None:
            program = ["bash", "--noprofile", "--norc"]
            self._bash = Talk(program, f"echo '{_END}' $?", self._folder, self._environment)
            self._stack.callback(self._bash.close)
        for command, shown in commands(part.text):
            typed = command
            if command.endswith("&"):
                typed = f"{command[:-1]} >>{shlex.quote(str(self._background))} 2>&1 &"
            printed, code = self._bash.say(f"eval {shlex.quote(typed)} </dev/null")
            exits = re.search(r"# exits (\d+)", command)
            assert code == (exits[1] if exits else "0"), f"$ {command}\n{printed}\nexits {code}"
            if shown.strip():
                # Without a DSN each command names the server: a page says so once, or not at all.
                check(shown, re.sub("^howdah: the embedded server in .*\n", "", printed, flags=re.MULTILINE))

    def _session(self, part: Part) -> None:
        program = [sys.executable, "-u", python_session.__file__, _END]
        self._program = Talk(program, _END, self._folder, self._environment)
        self._stack.callback(self._program.close)

    def _python(self, part: Part) -> None:
        if self._program is not None:
            printed, failed = self._program.say(part.text)
            assert failed == "0", printed
            if part.shown is not None:
                check(part.shown, printed)
            return
        done = subprocess.run(
            [sys.executable, "-c", part.text],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
        assert done.returncode == 0, done.stdout
        if part.shown is not None:
            check(part.shown, done.stdout)

    def _until(self, part: Part) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as db:
            wait_until(lambda: one(db, part.text) is True)


def _lines(text: str) -> list[str]:
    """Lines without the width of columns."""
    lines = (re.sub(r"[-─━═]{2,}", "--", " ".join(line.split())) for line in text.splitlines())
    return [line for line in lines if line]


def _pattern(line: str) -> str:
    return r"(?:.*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n"


def check(shown: str, printed: str) -> None:
    """All that was printed is what the page shows."""
    lines = "".join(f"{line}\n" for line in _lines(printed))
    assert re.fullmatch("".join(map(_pattern, _lines(shown))), lines), f"It shows:\n{shown}\nIt prints:\n{printed}"


def check_in_order(shown: list[str], printed: str) -> None:
    """What the page shows was printed, in this order."""
    left = iter(_lines(re.sub("^NOTICE:  ", "", printed, flags=re.MULTILINE)))
    for expected in shown:
        (line,) = _lines(expected)
        found = any(re.fullmatch(_pattern(line), f"{printed_line}\n") for printed_line in left)
        assert found, f"It shows, after what is above it:\n{expected}\nIt prints:\n{printed}"


def says(page: str, command: str) -> bool:
    """Whether a command is among those of the page's consoles."""
    consoles = (part.text for part in parts(page) if part.language == "console")
    return any(line.startswith(command) for text in consoles for line, _ in commands(text))


def read(page: str, request: pytest.FixtureRequest, folder: Path) -> None:
    """Do what the page says, in a folder and with a database as described above."""
    server = request.getfixturevalue("server")
    bin_folder = server.embedded.bin("psql").parent if server.embedded else None
    if bin_folder is None and shutil.which("psql") is None:
        pytest.skip("psql comes with the embedded server")
    if "| jq " in (ROOT / page).read_text() and shutil.which("jq") is None:
        pytest.skip("no jq: on Debian, apt-get install jq")
    fixture = "empty_dsn" if says(page, "howdah migrate") else "dsn"
    if says(page, "howdah server start"):
        fixture = "made_folder"
    folder = folder / "page"
    folder.mkdir()
    with psycopg.connect(server.dsn, autocommit=True) as admin:
        before = set(column(admin, "select rolname from pg_roles"))
        reader = Reader(folder, request.getfixturevalue(fixture), bin_folder)
        try:
            reader.read(page)
        finally:
            reader.close()
            # Roles belong to the server, and another page may make the same.
            with psycopg.connect(server.dsn if fixture == "made_folder" else reader.dsn, autocommit=True) as db:
                for role in set(column(db, "select rolname from pg_roles")) - before:
                    db.execute(psycopg.sql.SQL("drop owned by {0} cascade").format(identifier(role)))
                    db.execute(psycopg.sql.SQL("drop role {0}").format(identifier(role)))
