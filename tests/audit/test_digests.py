"""Digests prove what is sound, and find by row whatever an audit of every row finds."""

import itertools
import random
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from digests_support import MESSAGES, fill, shares
from support import Db

from howdah.audit import kept as keeping
from howdah.audit import pace, ranges
from howdah.audit.digests import BY_ROW, WORD

from .conftest import Audit, same
from .traffic import receive, send


def test_of_a_sound_journal_no_rows_are_read_but_the_samples(audit: Audit, db: Db, monkeypatch: Any) -> None:
    monkeypatch.setattr(ranges, "SAMPLE", 3)
    fill(db, "quick")
    fill(db, "recording.exits", level="exits")
    # Slower than the grace of a second for a range: each message is compared with its own time of sending.
    fill(db, "slow", messages=10 * WORD, pace=1000)
    db.execute("select howdah.create_queue('batches', '{\"journal_level\": \"full\"}')")
    for _ in range(10):
        send(db, "batches", 100)
        assert len(receive(db, "batches", 100)) == 100
    result = audit(rows=False)

    assert result.ok, result.rules
    total = sum(by_digest + by_row for by_digest, by_row in shares(result).values())
    assert sum(by_row for _, by_row in shares(result).values()) == 3
    assert total >= 2 * MESSAGES // WORD + 10
    assert result.rows["journal"] <= 3 * 2 * WORD
    assert {span.why for span in result.spans} == {(), ("sample",)}
    assert (result.queue("quick").sent, result.queue("quick").consumed) == (MESSAGES, MESSAGES)
    assert (result.queue("recording.exits").unrecorded_in, result.queue("batches").consumed) == (MESSAGES, 1000)
    same(result, audit(rows=True))


def test_a_time_that_no_transaction_explains_has_every_row_read(audit: Audit, db: Db) -> None:
    number = fill(db, "q")
    fill(db, "sound")
    db.execute("update howdah.journal set xid = message_ids[1] / 1000000")  # a transaction each
    db.execute(
        "update howdah.journal set at = at - interval '70 minutes' where message_ids = array[%s::bigint]"
        " and event = 'sent'",
        (1_000_100_000_000 + number,),
    )
    by_digest, by_row = audit(rows=False), audit(rows=True)
    same(by_digest, by_row)
    assert by_digest.rule("against_transactions").count == 1
    assert sum(proved for proved, _ in shares(by_digest).values()) == 0
    assert {span.why for span in by_digest.spans} == {("clocks",)}


def test_a_queue_of_many_faults_is_read_as_a_whole_and_others_are_not(audit: Audit, db: Db, monkeypatch: Any) -> None:
    monkeypatch.setattr(ranges, "NAMED_MAX", 10)
    number = fill(db, "bad", messages=20 * WORD)
    fill(db, "good")
    db.execute(
        "delete from howdah.journal where destination_id = %s and event = 'consumed'"
        " and message_ids[1] / 1000000 %% 100 = 0",
        (number,),
    )
    by_digest, by_row = audit(rows=False), audit(rows=True)
    same(by_digest, by_row)
    assert by_digest.rule("missing").count == 12
    assert shares(by_digest)["bad"][0] == 0
    assert shares(by_digest)["good"][1] == ranges.SAMPLE
    monkeypatch.setattr(ranges, "MOST", 0.05)
    whole = audit(rows=False)
    same(whole, by_row)
    assert whole.rows["journal"] == by_row.rows["journal"]
    assert any("most" in span.why for span in whole.spans)


def test_reports_count_every_row_and_the_proof_goes_by_digest(audit: Audit, db: Db, tmp_path: Path) -> None:
    number = fill(db, "q")
    db.execute(
        "delete from howdah.journal where message_ids = array[%s::bigint] and event = 'consumed'",
        (1_000_100_000_000 + number,),
    )
    result = audit(output=tmp_path / "out", bucket_seconds=3600)

    assert result.rows["journal"] == 2 * MESSAGES - 1
    assert result.rule("missing").samples == (1_000_100_000_000 + number,)
    assert shares(result)["q"] == (100 - ranges.SAMPLE, 1 + ranges.SAMPLE)
    page = (tmp_path / "out" / "index.html").read_text()
    assert "84 ranges of message numbers by digest, 17 by row, of which 16 are a sample" in page
    assert f"{MESSAGES - 1:,}" in page
    same(result, audit(rows=True))


def test_what_came_since_the_last_audit_is_told_by_digests_too(audit: Audit, db: Db) -> None:
    from howdah.audit.recorded import as_run
    from howdah.audit.since import Previous

    fill(db, "q")
    first = audit(rows=False)
    taken = db.execute("select %s::timestamptz", (first.taken_at,)).fetchone()
    assert taken is not None
    previous = Previous.of(as_run(first) | {"taken_at": taken[0]})
    for _ in range(5):
        send(db, "q", 200)
        receive(db, "q", 200)
    second = audit(rows=False, previous=previous)
    assert second.ok, second.rules
    same(second, audit(rows=True, previous=previous))
    # As if a message had gone unseen before: the record from then on does not explain it.
    assert previous is not None
    forged = Previous(previous.snapshot, previous.taken_at, {"q": 1})
    by_digest, by_row = (audit(rows=rows, previous=forged) for rows in (False, True))
    same(by_digest, by_row)
    assert by_digest.rule("since_last_audit").count == 1


def test_reasons_are_told_in_words() -> None:
    assert all(words and words[0].islower() and not words.endswith(".") for words in BY_ROW.values())


def test_an_audit_rests_while_others_write_and_only_then(db: Db, dsn: str, monkeypatch: Any) -> None:
    rests: list[float] = []
    monkeypatch.setattr(pace, "time", SimpleNamespace(sleep=rests.append, monotonic=time.monotonic))
    db.execute("select howdah.create_queue('q')")
    with pace.paced(dsn, local=True) as mine, pace.paced(dsn, local=False) as far:
        for _ in range(200):
            send(db, "q", 1)
        assert mine.is_busy()
        assert far.is_busy()
        far.rest()
        assert rests == []
        mine.rest()
        assert len(rests) == 1
        assert rests[0] > 0
        for _ in range(200):
            receive(db, "q")
        time.sleep(0.1)
        mine.rest()
        time.sleep(0.1)
        assert not mine.is_busy()
        rests.clear()
        mine.rest()
        assert rests == []
        # What decides the pace alone must not end an audit.
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'howdah audit pace'"
        )
        mine.rest()
        assert not mine.is_busy()


@pytest.mark.parametrize("most", [ranges.RUNS_MAX, 1])
@pytest.mark.parametrize("seed", range(20))
def test_pieces_of_the_journal_are_few_and_leave_nothing_out(seed: int, most: int) -> None:
    dice = random.Random(seed)
    places = [(begin, begin + dice.randint(1, 40)) for begin in dice.choices(range(2000), k=dice.randint(0, 60))]
    found = ranges.runs(places, 2040, most)
    assert all(begin < end for begin, end in found)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(found))
    covered = {block for begin, end in found for block in range(begin, end)}
    assert {block for begin, end in places for block in range(begin, end)} <= covered
    assert len(found) <= 2 * most


def test_few_rows_are_all_read_without_asking_for_digests(audit: Audit, db: Db, monkeypatch: Any) -> None:
    fill(db, "q", messages=4 * WORD)
    monkeypatch.setattr(ranges, "BY_ROW_MAX", 10_000)
    few = audit()
    monkeypatch.setattr(ranges, "BY_ROW_MAX", 8 * WORD - 1)
    many = audit()
    assert (few.coverage, few.rows["journal"], "digests" in few.rows) == ((), 8 * WORD, False)
    assert sum(shares(many)["q"]) in (4, 5)  # the first number need not begin a range
    same(few, many)


@pytest.mark.parametrize("kept", ["in memory", "as they are long", "as evidence"])
def test_few_rows_are_written_only_where_somebody_keeps_them_or_they_are_long(
    audit: Audit, db: Db, monkeypatch: Any, tmp_path: Path, kept: str
) -> None:
    fill(db, "q", messages=4 * WORD)
    folder = tmp_path / "evidence"
    folders_of_scratch: list[str] = []
    rmtree = shutil.rmtree

    def remove(scratch: Path) -> None:
        folders_of_scratch.extend(entry.name for entry in scratch.iterdir())
        rmtree(scratch)

    monkeypatch.setattr(shutil, "rmtree", remove)
    if kept == "as they are long":
        monkeypatch.setattr(keeping, "IN_MEMORY_MAX", 0)
    assert (audit(output=folder) if kept == "as evidence" else audit()).ok
    assert ("journal" in folders_of_scratch) == (kept == "as they are long")
    assert (folder / "journal").is_dir() == (kept == "as evidence")
    assert kept != "in memory" or folders_of_scratch == []
