"""Environments of the peers, made under build/, never among Howdah's own packages; and calls of their programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .catalogue import Entry

HERE = Path(__file__).parent


class PeerFailed(Exception):
    """A peer could not be installed or its program failed; the text says why."""


@dataclass(frozen=True)
class Environment:
    """A folder with a Python environment and node_modules."""

    folder: Path

    def bring(self, entry: Entry) -> str:
        """Install a peer if need be and return its version. Raises PeerFailed."""
        return self._node(entry) if entry.node else self._pip(entry)

    def call(self, entry: Entry, dsn: str, *words: object, processes: int = 1, timeout: float = 300) -> list[Any]:
        """Run its program in so many processes at once; the line of each. Raises PeerFailed."""
        command, variables = self._command(entry, dsn)
        started = [
            subprocess.Popen(
                [*command, *map(str, words)], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for _ in range(processes)
        ]
        lines = []
        try:
            for process in started:
                out, err = process.communicate(timeout=timeout)
                if process.returncode or not out.strip():
                    raise PeerFailed(f"{entry.name} {words[0]}: {(err or out).strip()[-300:]}")
                lines.append(json.loads(out.strip().splitlines()[-1]))
        except subprocess.TimeoutExpired as error:
            raise PeerFailed(f"{entry.name} {words[0]}: nothing for {timeout:.0f} seconds") from error
        finally:
            for process in started:
                process.kill()
                process.wait()
        return lines

    def _command(self, entry: Entry, dsn: str) -> tuple[list[str], dict[str, str]]:
        variables = os.environ | {"BENCH_DSN": dsn}
        if entry.node:
            return ["node", str(self.folder / "node" / f"{entry.program}.mjs")], variables
        # The programs are found as peers.with_…, beside which nothing of Howdah can be imported.
        variables["PYTHONPATH"] = str(self.folder / "programs")
        return [str(self.folder / "python" / "bin" / "python"), "-m", f"peers.{entry.program}"], variables

    def _pip(self, entry: Entry) -> str:
        python = self.folder / "python" / "bin" / "python"
        if not python.exists():
            _run(sys.executable, "-m", "venv", str(self.folder / "python"))
        version = ["-c", f"from importlib.metadata import version; print(version({entry.distribution!r}))"]
        if subprocess.run([str(python), *version], capture_output=True, check=False).returncode:
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            _run(*pip, "psycopg[binary,pool]", *entry.packages)
        programs = self.folder / "programs" / "peers"
        programs.mkdir(parents=True, exist_ok=True)
        for source in HERE.glob("*.py"):
            shutil.copy(source, programs)
        return _run(str(python), *version)

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


def _run(*command: str, cwd: Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerFailed(f"{' '.join(command[:4])} …: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout.strip()
