"""Environments of the peers, made under build/, never among Howdah's own packages; and calls of their programs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from .catalogue import Entry

HERE = Path(__file__).parent


class PeerFailed(Exception):
    """A peer could not be installed or its program failed; the text says why."""


@dataclass(frozen=True)
class Environment:
    """A folder with a Python environment and node_modules."""

    folder: Path

    def bring(self, entry: Entry) -> str:
        """Install a peer if need be and return its version. Raises PeerFailed, also if a system package is missing."""
        if entry.missing:
            raise PeerFailed(entry.missing)
        version = self._node(entry) if entry.node else self._pip(entry)
        return ", ".join(filter(None, [version, *(debian(package) for _, package in entry.needs)]))

    def call(self, entry: Entry, dsn: str, *words: object, processes: int = 1, timeout: float = 300) -> list[Any]:
        """Run its program in so many processes at once; the line of each. Raises PeerFailed."""
        command, variables = self._command(entry, dsn)
        with ExitStack() as stack:
            started = []
            for _ in range(processes):
                # Files, not pipes: a peer's own child processes would keep those open.
                out, err = (stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2))
                process = subprocess.Popen(
                    [*command, *map(str, words)], env=variables, stdout=out, stderr=err, start_new_session=True
                )
                stack.callback(_end, process)
                started.append((process, out, err))
            return [json.loads(_last_line(entry, words[0], *each, timeout)) for each in started]

    def _command(self, entry: Entry, dsn: str) -> tuple[list[str], dict[str, str]]:
        variables = os.environ | {"BENCH_DSN": dsn}
        if entry.node:
            return ["node", str(self.folder / "node" / f"{entry.program}.mjs")], variables
        # The programs are found as peers.with_…, beside which nothing of Howdah can be imported. -P: not even from the
        # folder of a copy of Howdah, where kombu/ is ours.
        variables["PYTHONPATH"] = str(self.folder / "programs")
        return [str(self.folder / "python" / "bin" / "python"), "-P", "-m", f"peers.{entry.program}"], variables

    def _pip(self, entry: Entry) -> str:
        python = self.folder / "python" / "bin" / "python"
        if not python.exists():
            _run(sys.executable, "-m", "venv", str(self.folder / "python"))
        packages = entry.packages or ("psycopg",)
        versions = ["-c", f"from importlib.metadata import version; print(*map(version, {packages!r}), sep='\\n')"]
        if subprocess.run([str(python), *versions], capture_output=True, check=False).returncode:
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            _run(*pip, "psycopg[binary,pool]", *entry.packages)
        programs = self.folder / "programs" / "peers"
        programs.mkdir(parents=True, exist_ok=True)
        for source in HERE.glob("*.py"):
            shutil.copy(source, programs)
        return _run(str(python), *versions).splitlines()[0] if entry.packages else ""

    def _node(self, entry: Entry) -> str:
        if shutil.which("node") is None or shutil.which("npm") is None:
            raise PeerFailed("Node is not installed")
        folder = self.folder / "node"
        folder.mkdir(parents=True, exist_ok=True)
        for source in [*HERE.glob("*.mjs"), HERE / "package.json"]:
            shutil.copy(source, folder)
        installed = folder / "node_modules" / entry.distribution / "package.json"
        if not installed.exists():
            _run("npm", "install", "--silent", "--no-audit", "--no-fund", cwd=folder)
        return str(json.loads(installed.read_text())["version"])


def debian(package: str) -> str:
    """The version of what Debian has installed; "unknown" where it came another way."""
    if shutil.which("dpkg-query") is None:
        return "unknown"
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${Version}", package], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def _last_line(
    entry: Entry, word: object, process: subprocess.Popen[bytes], out: IO[str], err: IO[str], timeout: float
) -> str:
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired as error:
        raise PeerFailed(f"{entry.name} {word}: no end within {timeout:.0f} seconds") from error
    out.seek(0)
    err.seek(0)
    lines = out.read().strip().splitlines()
    if code or not lines:
        raise PeerFailed(f"{entry.name} {word}: {err.read().strip()[-300:]}")
    return lines[-1]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill it and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _run(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerFailed(f"{' '.join(command[:4])} …: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout.strip()
