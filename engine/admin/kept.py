# Written by tools/make_sync.py from engine/aio/admin/kept.py: change that, and run make sync.
"""Messages that were consumed and are kept: names and argument types of the procedures, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..calls import Rows, scalar, table
from ..calls.columns import KEPT_COLUMNS
from ..calls.verbs import Verbs


class Kept(Verbs):
    """The verbs of kept messages over anything that runs a call."""

    def browse_kept(
        self,
        queue: str,
        *,
        max_messages: int = 100,
        after: tuple[datetime, int] | None = None,
        only_id: int | None = None,
        newest_first: bool = False,
    ) -> Rows:
        """Return kept messages by time and id. after: kept_at and message_id of the last one of the page before."""
        kept_at, last = after or (None, None)
        return self._run(
            table(
                "browse_kept",
                KEPT_COLUMNS,
                queue=("text", queue),
                max_messages=("integer", max_messages),
                after_kept_at=("timestamptz", kept_at),
                after_id=("bigint", last),
                only_id=("bigint", only_id),
                newest_first=("boolean", newest_first or None),
            )
        )

    def replay_kept(
        self,
        queue: str,
        message_ids: Sequence[int] | None = None,
        *,
        target: str | None = None,
        max_messages: int | None = None,
        kept_from: datetime | None = None,
        kept_before: datetime | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> int:
        """Send kept messages again, as new ones; return how many. Without ids or a time: all that are kept."""
        return self._run(
            scalar(
                "replay_kept",
                queue=("text", queue),
                message_ids=("bigint[]", None if message_ids is None else list(message_ids)),
                target=("text", target),
                max_messages=("bigint", max_messages),
                kept_from=("timestamptz", kept_from),
                kept_before=("timestamptz", kept_before),
                reason=("text", reason),
                dry_run=("boolean", dry_run or None),
            ).then(int)
        )

    def delete_kept(
        self,
        queue: str,
        message_ids: Sequence[int] | None = None,
        *,
        kept_before: datetime | None = None,
        reason: str | None = None,
    ) -> int:
        """Delete kept messages before their time; return how many. Without ids or a time: all that are kept."""
        return self._run(
            scalar(
                "delete_kept",
                queue=("text", queue),
                message_ids=("bigint[]", None if message_ids is None else list(message_ids)),
                kept_before=("timestamptz", kept_before),
                reason=("text", reason),
            ).then(int)
        )
