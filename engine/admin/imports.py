# Written by tools/make_sync.py from engine/aio/admin/imports.py: change that, and run make sync.
"""Imports from stores of other systems: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..calls import Rows, scalar, table
from ..calls.bodies import json_text
from ..calls.verbs import Verbs

IMPORT_COLUMNS = "source, stored, withdrawn, held, created_at, finished_at, created_by, queues"


class Imports(Verbs):
    """The verbs of imports over anything that runs a call."""

    def begin(self, source: str) -> datetime:
        """Begin to copy from a store, or go on with it. Returns when it began."""
        call = scalar("begin_import", source=("text", source))
        began: datetime = self._run(call)
        return began

    def hold(self, source: str, queue: str) -> bool:
        """Pause receiving from a queue or subscription until the final pass. Returns whether it was not paused."""
        return self._run(scalar("hold_import", source=("text", source), queue=("text", queue)).then(bool))

    def messages(self, source: str, queue: str, messages: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """Store messages, each once. Returns how many are new, and how many had come over before."""
        call = table(
            "import_messages",
            "stored, repeated",
            source=("text", source),
            queue=("text", queue),
            messages=("json", json_text(messages)),
        )
        ((stored, repeated),) = (row.values() for row in self._run(call))
        return stored, repeated

    def imported(self, source: str, queue: str, after: int | None = None, batch: int | None = None) -> Rows:
        """Return what came over into a queue or topic, in the order of the store."""
        return self._run(
            table(
                "list_imported",
                "key, store_id, message_id",
                source=("text", source),
                queue=("text", queue),
                after=("bigint", after),
                batch=("integer", batch),
            )
        )

    def withdraw(self, source: str, queue: str, keys: Sequence[str]) -> int:
        """Take messages back that were consumed at the source. Returns how many were still here."""
        arguments = {"source": ("text", source), "queue": ("text", queue), "keys": ("text[]", list(keys))}
        return self._run(scalar("withdraw_imported", **arguments).then(int))

    def read(self, source: str, topic: str, subscription: str, keys: Sequence[str]) -> int:
        """Pass messages that the subscription had read at the source. Returns how many it had not read here."""
        arguments = {
            "source": ("text", source),
            "topic": ("text", topic),
            "subscription": ("text", subscription),
            "keys": ("text[]", list(keys)),
        }
        return self._run(scalar("read_imported", **arguments).then(int))

    def finish(self, source: str) -> list[str]:
        """End an import after its final pass. Returns what is received from again."""
        return self._run(scalar("finish_import", source=("text", source)).then(list))

    def list(self) -> Rows:
        """Return the imports."""
        return self._run(table("list_imports", IMPORT_COLUMNS))

    def forget(self, source: str) -> int:
        """Forget an import, and what came over. Returns how many messages were on record."""
        return self._run(scalar("forget_import", source=("text", source)).then(int))
