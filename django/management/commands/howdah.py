"""manage.py howdah: the command howdah on Django's database."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, SystemCheckError
from django.db import DEFAULT_DB_ALIAS

from ....cli.main import main
from ....engine import connect
from ....engine.calls.results import keeps_results
from ....engine.errors import QueueExists
from ...backend import DATABASE, backends
from ...connections import dsn_of

TARGET = "howdah.django.worker:app"


class Command(BaseCommand):  # type: ignore[misc]
    """Run any command of howdah; ``worker`` and ``migrate`` know the backends of TASKS."""

    help = (
        "Run a command of howdah on Django's database, such as: worker (run tasks), migrate (install Howdah, and create"
        " the queues of the TASKS setting), console, queue list. For its options: howdah COMMAND --help."
    )
    requires_system_checks: ClassVar[Any] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Take all words as they are."""
        parser.add_argument("--database", default=DEFAULT_DB_ALIAS, help="Alias of the database in DATABASES.")
        parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND …", help="A command of howdah.")

    def handle(self, *arguments: str, words: list[str], database: str, **options: Any) -> None:
        """Run the command. Raises CommandError if it fails."""
        words = [*arguments, *words] or ["--help"]
        dsn = dsn_of(database)
        # Workers are processes of their own: they find the project where manage.py does, and Howdah where Django does.
        os.environ["HOWDAH_DSN"] = dsn
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [sys.path[0], os.environ.get("PYTHONPATH")]))
        if words[0] in ("worker", "migrate"):
            self._check()
        if words[0] == "worker":
            os.environ[DATABASE] = database
            words = ["worker", TARGET, *words[1:]]
        self._run(words)
        if words == ["migrate"] or (words[0] == "migrate" and not {"--check", "--status", "--to"} & set(words)):
            self._create_queues(dsn, database)

    def _run(self, words: list[str]) -> None:
        sys_argv, sys.argv = sys.argv, ["howdah", *words]  # worker --reload starts itself anew by them
        try:
            main(words)
        except SystemExit as end:
            if end.code:
                raise CommandError(f"howdah {words[0]} failed", returncode=_code(end.code)) from None
        finally:
            sys.argv = sys_argv

    def _check(self) -> None:
        """Raise SystemCheckError for what Django's checks would say of the backends. The command runs without them."""
        wrong = [message for backend in backends() for message in backend.check() if message.is_serious()]
        if wrong:
            raise SystemCheckError("\n".join(map(str, wrong)))

    def _create_queues(self, dsn: str, database: str) -> None:
        with connect(dsn) as connection:
            for backend in backends(database):
                for queue_name in sorted(backend.queues):
                    queue = backend.queue_of(queue_name)
                    try:
                        connection.admin.create_queue(queue, **backend.queue_options)
                    except QueueExists:
                        if not connection.call(keeps_results(queue)):
                            self.stdout.write(f"the queue {queue} keeps no results: see its option keep_results_ms")
                        continue
                    self.stdout.write(f"created the queue {queue}")


def _code(code: object) -> int:
    return code if isinstance(code, int) else 1
