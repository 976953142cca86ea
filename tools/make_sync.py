"""Write the synchronous half of the engine from the asynchronous one: the same text without async and await.

``make sync`` writes the files; a test calls ``outdated``, which lists those that are not what would be written.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: Source and result, below engine/.
PAIRS = {
    "aio/verbs.py": "calls/verbs.py",
    "aio/waiter.py": "database/waiter.py",
    "aio/loans.py": "database/loans.py",
    "aio/stream.py": "sending/stream.py",
    "aio/copying.py": "sending/copying.py",
    "aio/dispatch.py": "sessions/dispatch.py",
    "aio/leases.py": "sessions/leases.py",
    "aio/producer.py": "sessions/producer.py",
    "aio/receiving.py": "sessions/receiving.py",
    "aio/session.py": "sessions/session.py",
    "aio/transacting.py": "sessions/transacting.py",
    "aio/admin/access.py": "admin/access.py",
    "aio/admin/administration.py": "admin/administration.py",
    "aio/admin/admin.py": "admin/admin.py",
    "aio/admin/archives.py": "admin/archives.py",
    "aio/admin/audits.py": "admin/audits.py",
    "aio/admin/changes.py": "admin/changes.py",
    "aio/admin/imports.py": "admin/imports.py",
    "aio/admin/instances.py": "admin/instances.py",
    "aio/admin/kept.py": "admin/kept.py",
    "aio/admin/links.py": "admin/links.py",
    "aio/admin/locks.py": "admin/locks.py",
    "aio/admin/logs.py": "admin/logs.py",
    "aio/admin/objects.py": "admin/objects.py",
    "aio/admin/poison_admin.py": "admin/poison_admin.py",
    "aio/admin/schedules.py": "admin/schedules.py",
    "aio/admin/search.py": "admin/search.py",
    "aio/admin/services.py": "admin/services.py",
    "aio/admin/topics.py": "admin/topics.py",
    "aio/admin/transactions.py": "admin/transactions.py",
    "aio/admin/users.py": "admin/users.py",
}
#: What stands for what, besides the modules above and names that only lose their Async.
MODULES = {"aio/tasks.py": "database/threads.py", "aio/admin/__init__.py": "admin/__init__.py"}
NAMES = {
    "AnyAsyncConnection": "AnyConnection",
    "AsyncIterator": "Iterator",
    "AsyncPgConnection": "PgConnection",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "asynccontextmanager": "contextmanager",
    "check_async_listener": "check_listener",
    "AbstractAsyncContextManager": "AbstractContextManager",
    "run_async": "run",
    "commit_whole_async": "commit_whole",
    "raw_async": "raw",
}
HEADER = "# Written by tools/make_sync.py from engine/{source}: change that, and run make sync.\n"


def _module(path: str) -> str:
    return "engine." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


_RENAMED = {_module(source): _module(target) for source, target in (PAIRS | MODULES).items()}


def converted(source: str) -> str:
    """Return the synchronous text of a source."""
    text = (ROOT / "engine" / source).read_text(encoding="utf-8")
    text = _names(_without_keywords(_chosen(text)))
    text = _imports(text, _module(source), _module(PAIRS[source]))
    return _formatted(HEADER.format(source=source) + text, ROOT / "engine" / PAIRS[source])


def outdated() -> list[str]:
    """Return the results that differ from their sources."""
    return [target for source, target in PAIRS.items() if _read(target) != converted(source)]


def _read(target: str) -> str:
    path = ROOT / "engine" / target
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _chosen(text: str) -> str:
    """Drop lines of the source alone (they end with ``# async``) and keep lines of the result alone (``# sync:``)."""
    text = re.sub(r"^.*  # async\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^( *)# sync: ?", r"\1", text, flags=re.MULTILINE)


def _without_keywords(text: str) -> str:
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type == tokenize.NAME and token.string in ("async", "await"):
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + line[column + len(token.string) :].lstrip(" ")
    return "".join(lines)


def _names(text: str) -> str:
    text = re.sub(r"\bAwaitable\[(\w+)\]", r"\1", text)
    for name, other in NAMES.items():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", other, text)
    return re.sub(r"\bAsync(?=[A-Z])", "", text)


def _imports(text: str, source: str, target: str) -> str:
    """Rewrite relative imports for the place of the result."""

    def moved(found: re.Match[str]) -> str:
        dots, rest = found[2], found[3]
        base = source.split(".")[: -len(dots)]
        module = ".".join([*base, *filter(None, rest.split("."))])
        return f"{found[1]}from {_relative(_RENAMED.get(module, module), target)} import "

    return re.sub(r"^( *)from (\.+)([\w.]*) import ", moved, text, flags=re.MULTILINE)


def _relative(module: str, target: str) -> str:
    here, there = target.split(".")[:-1], module.split(".")
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    return "." * (len(here) - common + 1) + ".".join(there[common:])


def _formatted(text: str, path: Path) -> str:
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    for words in (["check", "--select", "I,F401", "--fix", "--quiet"], ["format", "--quiet"]):
        command = [*ruff, *words, "--stdin-filename", str(path), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


if __name__ == "__main__":
    for source, target in PAIRS.items():
        (ROOT / "engine" / target).write_text(converted(source), encoding="utf-8")
