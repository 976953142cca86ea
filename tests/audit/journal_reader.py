"""The stream reader as Spark uses it, without Spark: offsets go through JSON, partitions through pickle."""

import json
import pickle
from collections import Counter
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from support import Db

from howdah.audit.stream import HowdahJournal, JournalStreamReader

Row = tuple[Any, ...]


def options(dsn: str, **more: Any) -> dict[str, str]:
    """Options for a database at ``dsn``, whose password may not stand in dsn."""
    parts: dict[str, Any] = conninfo_to_dict(dsn)
    password = parts.pop("password", None)
    given = {"dsn": make_conninfo(**parts)} | ({"password": password} if password else {})
    return given | {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in more.items()}


class Reader:
    """One stream: where it is and what it has read."""

    def __init__(self, dsn: str, **more: Any) -> None:
        source = HowdahJournal(options(dsn, **more))
        reader = source.streamReader(source.schema())
        assert isinstance(reader, JournalStreamReader)
        self.reader = reader
        self.limit = int(more.get("maxRowsPerBatch", 0)) or None
        try:
            self.offset: dict[str, Any] = self.reader.initialOffset()
        except Exception:
            self.reader.stop()
            raise
        self.offsets = [self.offset]
        self.rows: Counter[Row] = Counter()

    def batch(self) -> list[Row] | None:
        """Read the next batch; None if there is none."""
        limit = ReadAllAvailable() if self.limit is None else ReadMaxRows(self.limit)
        end = json.loads(json.dumps(self.reader.latestOffset(self.offset, limit)))
        if end == self.offset:
            return None
        found = self.between(self.offset, end)
        self.offset = end
        self.offsets.append(end)
        self.rows.update(found)
        return found

    def between(self, start: dict[str, Any], end: dict[str, Any]) -> list[Row]:
        """The rows of a batch, (message, event, xid), read range by range."""
        found = []
        for partition in pickle.loads(pickle.dumps(self.reader.partitions(start, end))):
            for records in self.reader.read(partition):
                found += [(row["message_id"], row["event"], row["xid"]) for row in records.to_pylist()]
        return found

    def drain(self) -> None:
        """Read until nothing is left."""
        while self.batch() is not None:
            pass


def journal(db: Db) -> Counter[Row]:
    """What the journal has, as a reader's rows."""
    return Counter(db.execute("select message_id, event, xid from howdah.audit_journal").fetchall())
