"""The journal as a stream, in Spark itself: batches and checkpoints, a driver's death, plans without passwords."""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from support import Db

from howdah.audit.stream import HowdahJournal

from .journal_reader import journal, options
from .traffic import receive, send

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DOCS = Path(__file__).parents[2] / "docs" / "streaming.md"
Stream = Callable[..., list[int]]


@pytest.fixture
def queue(db: Db) -> str:
    db.execute("select howdah.create_queue('q', '{\"journal_level\": \"full\"}')")
    return "q"


@pytest.fixture
def stream(dsn: str, spark: "SparkSession", tmp_path: Path) -> Stream:
    """Streams all there is to Parquet, on from the last checkpoint; returns how many rows each batch had."""
    spark.dataSource.register(HowdahJournal)

    def run(**more: Any) -> list[int]:
        sizes = []

        def keep(batch: "DataFrame", number: int) -> None:
            batch.write.mode("overwrite").parquet(f"{tmp_path}/out/batch={number}")
            sizes.append(batch.count())

        reader = spark.readStream.format("howdah_journal").options(**options(dsn, partitions=1, **more))
        writer = reader.load().writeStream.foreachBatch(keep).option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        return sizes

    return run


def kept(spark: "SparkSession", folder: Path) -> Counter[tuple[Any, ...]]:
    """What the stream has written."""
    rows = spark.read.parquet(str(folder / "out")).select("message_id", "event", "xid").collect()
    return Counter(tuple(row) for row in rows)


@pytest.mark.slow
def test_a_transaction_open_over_two_runs_of_a_query_is_read_by_the_third(
    dsn: str, db: Db, queue: str, spark: "SparkSession", stream: Stream, tmp_path: Path
) -> None:
    with psycopg.connect(dsn) as late:
        send(late, queue, 3)
        for _ in range(2):
            send(db, queue, 4)
        assert stream(maxRowsPerBatch=5) == [4, 4]
        receive(db, queue, 2)
        assert stream(maxRowsPerBatch=5) == [2]
        late.commit()
    assert stream(maxRowsPerBatch=5) == [3]
    assert kept(spark, tmp_path) == journal(db)


@pytest.mark.slow
def test_a_driver_killed_in_a_batch_is_followed_by_one_that_loses_and_doubles_nothing(
    dsn: str, db: Db, queue: str, spark: "SparkSession", stream: Stream, tmp_path: Path
) -> None:
    for _ in range(4):
        send(db, queue, 9)
    words = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("stream_driver.py"))]
    words += [str(tmp_path / "out"), str(tmp_path / "checkpoint"), "1"]
    # As from an environment that is not activated: python3 on the path is another Python, without Howdah.
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if Path(p) != Path(sys.executable).parent)
    answer = subprocess.run(
        words,
        env=os.environ | {"HOWDAH_DSN": dsn, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == -signal.SIGKILL, answer.stderr
    assert answer.stdout.split() == ["0", "1"]
    send(db, queue, 5)
    # The batch it died in comes again, as it was, though there is more by now.
    assert stream(maxRowsPerBatch=10) == [9, 9, 9, 5]
    assert kept(spark, tmp_path) == journal(db)


def test_a_batch_read_gives_the_journal_and_its_plan_no_password(
    dsn: str, db: Db, queue: str, spark: "SparkSession", capfd: pytest.CaptureFixture[str]
) -> None:
    send(db, queue, 30)
    send(db, queue, 3)
    spark.dataSource.register(HowdahJournal)
    given = options(dsn)
    read = spark.read.format("howdah_journal").options(**given)
    rows = read.load()
    assert Counter(tuple(row) for row in rows.select("message_id", "event", "xid").collect()) == journal(db)
    folded = read.option("folded", "true").option("startingOffsets", "earliest").load()
    assert sorted(len(row.message_ids) for row in folded.collect()) == [3, 30]
    rows.explain("formatted")
    rows.explain("extended")
    spark.readStream.format("howdah_journal").options(**given).load().explain("extended")
    shown = capfd.readouterr().out
    assert "howdah_journal" in shown
    assert given.get("password", "no password") not in shown
    with pytest.raises(Exception, match="unknown option 'maxrows'"):
        read.option("maxRows", "1").load()


@pytest.mark.slow
def test_the_example_of_the_page_runs(dsn: str, db: Db, queue: str) -> None:
    send(db, queue, 3)
    (program,) = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=os.environ | {"HOWDAH_DSN": dsn},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert re.search(r"\| +q\| +sent\| +3\|", answer.stdout), answer.stdout
