"""Errors that differ in values alone have one fingerprint, and others have others."""

import pytest
from support import Db, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


def fingerprint(db: Db, text: str | None, error_class: str = "E", sqlstate: str | None = None) -> str:
    value: str = one(db, "select howdah._fingerprint(%s, %s, %s)", (error_class, text, sqlstate))
    return value


@pytest.mark.parametrize(
    ("one_text", "other_text"),
    [
        ("order 17 of 2,500.75", "order 4711 of 3"),
        ("no key 'a'", "no key 'b c'"),
        ('no "a" in `t`', 'no "xyz" in `u`'),
        ("can't find 'a'", "can't find 'b'"),
        ("job 0f8fad5b-d9cb-469f-a165-70867728950e", "job 7C9E6679-7425-40DE-944B-E07FC1F90AE7"),
        ("at 0x7f88", "at 0x1"),
        ("commit deadbeef01", "commit 0badcafe99"),
        ("two\n  lines", " two lines "),
        ("value -1.5e-3 late", "value 7 late"),
    ],
)
def test_errors_that_differ_in_values_only_have_one_fingerprint(db: Db, one_text: str, other_text: str) -> None:
    assert fingerprint(db, one_text) == fingerprint(db, other_text)


def test_errors_of_other_words_class_or_sqlstate_have_other_fingerprints(db: Db) -> None:
    different = {
        fingerprint(db, "no such order"),
        fingerprint(db, "no such customer"),
        fingerprint(db, "can't find a"),
        fingerprint(db, "can't find b"),
        fingerprint(db, "facade"),
        fingerprint(db, "defaced"),
        fingerprint(db, "no such order", "F"),
        fingerprint(db, "no such order", "E", "23505"),
        fingerprint(db, None),
    }
    assert len(different) == 9
    assert all(len(value) == 16 for value in different)


def test_a_long_error_is_fingerprinted_in_no_time(db: Db) -> None:
    with db.transaction():
        db.execute("set local statement_timeout = '10s'")
        assert fingerprint(db, "'" * 1_000_001)
        assert fingerprint(db, "1a " * 500_000)
