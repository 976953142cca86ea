"""Rules about named leases: their fencing epochs only grow, by one at each change of holder."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .rule import CLOCK_GRACE, Evidence, Rule, text


def _broken(evidence: Evidence) -> DataFrame | None:
    """Changes of holder that do not follow the one before, and locks whose epoch is not that of their last change.

    The rule looks at what retention left. The first row of a name may have any epoch, and the last row is always kept.
    """
    if not evidence.facts.locks:
        return None
    changes = Window.partitionBy("name").orderBy("id")
    before, earlier = F.lag("epoch").over(changes), F.lag("acquired_at").over(changes)
    is_last = F.lead("id").over(changes).isNull()
    present = F.coalesce("present_epoch", F.lit(0))
    judged = evidence.locks.select(
        F.when(F.col("epoch") != before + 1, text("lock {}: epoch {} follows {}", "name", "epoch", before))
        .when(
            F.col("acquired_at") < earlier - F.expr(CLOCK_GRACE),
            text("lock {}: epoch {} was acquired at {}, before the one before it", "name", "epoch", "acquired_at"),
        )
        .when(
            is_last & (F.coalesce("epoch", F.lit(0)) != present),
            text("lock {}: its epoch is {}, its last holder got {}", "name", present, "epoch"),
        )
        .alias("seen")
    )
    nothing = (F.lit(None).cast("int").alias("destination_id"), F.lit(None).cast("long").alias("message_id"))
    return judged.where(F.col("seen").isNotNull()).select(*nothing, "seen")


RULES = (Rule("lock_epochs", "error", "fencing epochs that do not grow by one with each holder", find=_broken),)
