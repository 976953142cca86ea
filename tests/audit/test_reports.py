"""Each report says what its rows are, by a handful of messages whose fate is known."""

from typing import TYPE_CHECKING, Any

import pytest
from reports_support import DEAD, EXITS, FULL, SCHEMAS, Make, at, event, kept_maker, present, shown

from howdah.audit import AuditError
from howdah.audit.reports.catalogue import make_reports
from howdah.audit.reports.failures import causes, redelivery
from howdah.audit.reports.kept import ROWS_MAX, bucket_seconds
from howdah.audit.reports.throughput import flows, throughput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def make(spark: "SparkSession") -> Make:
    """Views with a handful of rows, at a snapshot two minutes after noon."""
    return kept_maker(spark)


def test_buckets_are_round_and_few() -> None:
    spans = {0: 1, 120: 1, 121: 5, 7200: 60, 86_400: 1800, 90 * 86_400: 86_400, 3650 * 86_400: 604_800}
    assert {span: bucket_seconds(span) for span in spans} == spans


def test_of_many_queues_buckets_are_longer_so_that_reports_fit_into_the_drivers_memory() -> None:
    year = 365 * 86_400
    for queues in (1, 100, 5_000, 100_000, 400_000, 3_000_000):
        for span in (0, 600, year, 10 * year):
            seconds = bucket_seconds(span, queues)
            assert span / seconds * queues <= max(ROWS_MAX, queues)
    many = [bucket_seconds(86_400, queues) for queues in (1, 4_000, 10_000, 50_000)]
    assert many == [1800, 1800, 1800, 10_800]


def test_a_report_of_most_rows_takes_little_memory(make: Make) -> None:
    """What the driver's Python holds of one, text of the longest name included."""
    kept = make(journal=event(0, FULL, "sent", 1))
    row = throughput(flows(kept), kept).toArrow()
    assert (row.nbytes + 242) * ROWS_MAX < 200 << 20


def test_throughput_counts_what_came_and_went_of_each_bucket(make: Make) -> None:
    kept = make(
        journal=[
            *event(0, FULL, "sent", 1, 2, 3),
            *event(59.9, FULL, "consumed", 1),
            *event(60, FULL, "moved", 2, to=DEAD),
            *event(61, DEAD, "replayed", 2, to=FULL),
            *event(62, FULL, "consumed", 2),
            *event(62, FULL, "expired", 3),
        ]
    )

    columns = (
        "sent",
        "moved_in",
        "replayed_in",
        "consumed",
        "expired",
        "moved_out",
        "replayed_out",
        "came_in",
        "went_out",
    )
    assert shown(throughput(flows(kept), kept), "queue", "bucket_at", "seconds", *columns) == [
        ("dead", 60, 60, 0, 1, 0, 0, 0, 0, 1, 1, 1),
        ("q.full", 0, 60, 3, 0, 0, 1, 0, 0, 0, 3, 1),
        ("q.full", 60, 60, 0, 0, 1, 1, 1, 1, 0, 1, 3),
    ]


def test_messages_are_told_by_their_failures(make: Make) -> None:
    incidents = [
        {"incident_id": number, "message_id": message, "destination_id": FULL}
        for number, message in enumerate([1, 2, 2, *[3] * 25])
    ]
    kept = make(
        incidents=incidents,
        identity=[{"destination_id": FULL, "messages": 10}, {"destination_id": EXITS, "messages": 0}],
    )

    assert shown(redelivery(kept), "queue", "failures", "messages") == [
        ("q.full", 0, 7), ("q.full", 1, 1), ("q.full", 2, 1), ("q.full", 11, 1)
    ]  # fmt: skip


def test_causes_are_counted_by_fingerprint_with_the_newest_as_sample(make: Make) -> None:
    def incident(number: int, message: int, fingerprint: str, place: int = FULL) -> dict[str, Any]:
        error = {"error_class": "E", "error_text": f"no {number}", "sqlstate": None, "recorded_at": at(number)}
        return error | {
            "incident_id": number, "message_id": message, "destination_id": place, "fingerprint": fingerprint
        }  # fmt: skip

    kept = make(
        incidents=[
            incident(1, 1, "rare"), incident(2, 1, "often"), incident(3, 1, "often"), incident(4, 2, "often", EXITS)
        ],
        messages=present(0, DEAD, "dead", 1) + present(0, FULL, "live", 2),
    )  # fmt: skip

    columns = (
        "fingerprint",
        "messages",
        "incidents",
        "dead",
        "queues",
        "first_at",
        "last_at",
        "sample_text",
        "sample_message",
    )
    assert shown(causes(kept), *columns) == [
        ("often", 2, 3, 1, 2, 2, 4, "no 4", 2),
        ("rare", 1, 1, 0, 1, 1, 1, "no 1", 1),
    ]


def test_too_many_buckets_are_refused(make: Make, tmp_path: Any) -> None:
    kept = make(journal=event(0, FULL, "sent", 1))
    views = {f"audit_{name}": getattr(kept, name) for name in SCHEMAS if name != "identity"}
    with pytest.raises(AuditError, match="take longer ones"):
        make_reports(views, kept.identity, str(at(20_000)), tmp_path / "reports", 1)
    crowd = kept.identity.sparkSession.range(30_000).selectExpr("cast(id as int) destination_id", "0L messages")
    with pytest.raises(
        AuditError, match=r"make reports of more than 500,000 rows for 30,00\d queues: take longer ones"
    ):
        make_reports(views, crowd, str(at(20_000)), tmp_path / "reports", 600)
