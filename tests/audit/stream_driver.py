"""A driver of its own, as a program: streams the journal to Parquet and dies by SIGKILL in a batch."""

import os
import signal
import sys
from typing import TYPE_CHECKING

from howdah.audit import spark_session
from howdah.audit.stream import HowdahJournal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

output, checkpoint, fatal = sys.argv[1], sys.argv[2], int(sys.argv[3])


def keep(batch: "DataFrame", number: int) -> None:
    """The batch is written, and Spark has yet to note that."""
    batch.write.mode("overwrite").parquet(f"{output}/batch={number}")
    print(number, flush=True)
    if number == fatal:
        os.kill(os.getpid(), signal.SIGKILL)


with spark_session("local[1]", partitions=1) as spark:
    spark.dataSource.register(HowdahJournal)
    journal = spark.readStream.format("howdah_journal").option("maxRowsPerBatch", 10).option("partitions", 1).load()
    stream = journal.writeStream.foreachBatch(keep).option("checkpointLocation", checkpoint)
    stream.trigger(availableNow=True).start().awaitTermination()
