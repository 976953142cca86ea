"""Which ranges of message numbers an audit proved by digest, and which by row."""

from __future__ import annotations

from ..digests import BY_ROW
from ..result import AuditResult
from .parts import Cell, Table, count, identifier, table, text

NO_QUEUE = "of no queue"


def ranges_of(result: AuditResult) -> list[Table]:
    """A table of the queues, and one of the ranges that were read by row. No table if all were."""
    if not result.coverage:
        return []
    queues = [
        {
            "queue": line.queue or NO_QUEUE,
            "by_digest": line.by_digest,
            "rows_by_digest": line.rows_by_digest,
            "by_row": line.by_row,
            "rows_by_row": line.rows_by_row,
            "sampled": line.sampled,
        }
        for line in sorted(result.coverage, key=lambda line: -line.rows_by_digest - line.rows_by_row)
    ]
    sums = ("by_digest", "rows_by_digest", "by_row", "rows_by_row", "sampled")
    covered = table(
        "Ranges of message numbers",
        queues,
        {
            "queue": ("queue", text),
            "by_digest": ("proved by digest", count),
            "rows_by_digest": ("events in them", count),
            "by_row": ("proved by row", count),
            "rows_by_row": ("events in them", count),
            "sampled": ("as a sample", count),
        },
        sums=sums,
        note="A range is 64 numbers of one queue. A digest says which of them were sent and which were consumed, and"
        " the server counts them. The rules look at each row of the other ranges.",
    )
    spans = table(
        "Where rows were looked at, and where digests were enough",
        [
            {
                "queue": span.queue or NO_QUEUE,
                "first": span.first,
                "last": span.last,
                "ranges": span.ranges,
                "messages": span.messages,
                "how": "; ".join(BY_ROW[word] for word in span.why),
            }
            for span in result.spans
        ],
        {
            "queue": ("queue", text),
            "first": ("from number", identifier),
            "last": ("to number", identifier),
            "ranges": ("ranges", count),
            "messages": ("messages", count),
            "how": ("proved by", lambda why: Cell(f"row: {why}" if why else "digest", "small")),
        },
        sums=("ranges", "messages"),
    )
    return [covered, spans]
