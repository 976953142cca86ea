"""Import what takes long, then run scripts of the project in forks: a line of JSON for each, answered by its code."""

import json
import os
import runpy
import sys

import starlette.testclient  # noqa: F401 - forks have it then

import howdah.cli.main
import howdah.console
import howdah.migrations
import howdah.testing
import howdah.workers  # noqa: F401 - forks have it then


def run(words, environment, streams):
    """Be the script. Returns its exit code."""
    os.environ.update(environment)
    for number, path in enumerate(streams, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = words
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


for line in sys.stdin:
    child = os.fork()
    if not child:
        code = run(**json.loads(line))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
