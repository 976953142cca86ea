"""The `howdah` command for tests: in this process, which is quick, or as a program of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import IO, Any
from unittest import mock

from howdah.cli.main import main


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout, which is one JSON document."""
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        """stdout, which is a JSON document a line."""
        return [json.loads(line) for line in self.out.splitlines()]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def howdah(
    dsn: str, *words: object, stdin: str | bytes = "", columns: int | None = None, watched: bool = False
) -> Result:
    """Run a command in this process, on a database.

    stdin is no terminal; stdout is one of so many columns, if any; stderr if watched.
    """
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = io.StringIO() if columns is None else Terminal(), Terminal() if watched else io.StringIO()
    environment = {"HOWDAH_DSN": dsn} | ({} if columns is None else {"COLUMNS": str(columns)})
    code = 0
    with (
        mock.patch.dict(os.environ, environment),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data))),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return Result(code, out.getvalue(), err.getvalue())


def start(dsn: str, *words: object, stdin: int | IO[bytes] = subprocess.PIPE, **more: Any) -> subprocess.Popen[bytes]:
    """Start a command as a program of its own, with pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "howdah.cli.main", *map(str, words)],
        env=os.environ | {"HOWDAH_DSN": dsn},
        stdin=stdin,
        stdout=more.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        **more,
    )


def refused(result: Result, text: str, code: int = 1) -> None:
    """A command failed with that code and one line on stderr that holds the text."""
    assert (result.code, result.out) == (code, ""), result
    assert result.err.startswith("howdah: "), result
    assert text in result.err, result
    assert result.err.count("\n") == 1, result
