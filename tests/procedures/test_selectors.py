"""JMS message selectors: each rule with its vectors, and what is said of a wrong one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from selectors_support import TRY, answers
from support import Connect, Db, one, refused

VECTORS = Path(__file__).with_name("selector_vectors.txt").read_text(encoding="utf-8")


def vectors() -> list[tuple[str, str, str]]:
    """Expected value, selector and the message's options of each line."""
    found = []
    options = ""
    for line in VECTORS.splitlines():
        if line.startswith("message "):
            headers, _, more = line.removeprefix("message ").rpartition("}")
            pairs = ", ".join(f'"{name}": "{value}"' for name, value in re.findall(r"(\w+)=(\S+)", more))
            options = f'{{"headers": {headers}}}' + (f", {pairs}" if pairs else "") + "}"
        elif line and not line.startswith("#"):
            expected, selector = line[: line.index(" ")], line[line.index(" ") + 1 :]
            found.append((expected.rstrip("⇥"), selector.replace("⏎", "\n").replace("⇥", "\t"), options))
    return found


def test_every_vector_has_its_value(db: Db) -> None:
    table = vectors()
    assert len(table) > 400
    db.execute(TRY.encode())
    said = answers(db, [(selector, options) for _, selector, options in table])
    wrong = [
        f"{expected}, not {got}: {selector}   {options}"
        for (expected, selector, options), got in zip(table, said, strict=True)
        if expected != got
    ]
    assert wrong == [], "\n" + "\n".join(wrong)


def test_no_selector_selects_everything(db: Db) -> None:
    for blank in (None, "", " ", " \t\r\n\f "):
        assert one(db, "select howdah._compile_selector(%s)", (blank,)) is None
        assert one(db, "select howdah.check_selector(%s)", (blank,)) is None
        assert one(db, "select howdah.selector_matches(%s, '{}')", (blank,)) is True


def test_an_error_says_what_where_and_what_to_do(db: Db) -> None:
    for selector, message, hint in (
        ("price > ", "the end where a value is expected at position 9", "such as: price > 100"),
        ('region = "EU"', "the character '\"' at position 10", "single quotes"),
        ("code IN (1, 2)", "the number 1 where a string is expected at position 10", "code = 1 OR code = 2"),
        ("name > 'A'", "a string compared by > at position 8", "only = and <>"),
        ("JMSReplyTo = 'q'", "the name JMSReplyTo, which cannot be selected by at position 1", "JMSCorrelationID"),
        ("a = 'Tom's'", "the name s where an operator is expected at position 10", None),
    ):
        said = refused(db, "HD023", "select howdah.check_selector(%s)", (selector,))
        assert said.message_primary == f"invalid selector: {message}"
        assert (hint or "such as") in (said.message_hint or "")


@pytest.mark.slow
def test_the_normal_form_is_the_same_selector(db: Db) -> None:
    assert one(db, "select howdah.check_selector('price>100\tand region in(''EU'',''O''''N'')\n')") == (
        "price > 100 AND region IN ('EU', 'O''N')"
    )
    valid = [selector for expected, selector, _ in vectors() if expected[0] != "E"]
    rows = db.execute(
        "select howdah.check_selector(n.form) = n.form,"
        " howdah._compile_selector(n.form) = howdah._compile_selector(n.selector), n.selector"
        " from (select s as selector, howdah.check_selector(s) as form from unnest(%s::text[]) s) n",
        (valid,),
    ).fetchall()
    assert [row for row in rows if row[:2] != (True, True)] == []


def test_a_stored_selector_selects_stored_messages(db: Db) -> None:
    db.execute("select howdah.create_queue('q')")
    for n in range(10):
        db.execute("select howdah.send('q', 'x', headers => %s::jsonb, priority => %s)", (f'{{"n": {n}}}', n))
    sql = one(
        db,
        (
            "select howdah._compile_selector('n * 2 > 10 AND JMSPriority < 8 AND JMSMessageID LIKE"
            " ''ID:%'' AND JMSTimestamp > 0')"
        ),
    )
    found = db.execute(
        f"select m.headers ->> 'n' from (select q.*, false as nonpersistent from howdah.msgs q) m where {sql}"
        " order by 1".encode()
    ).fetchall()
    assert found == [("6",), ("7",)]


def test_wrong_arguments_of_a_try_are_refused(db: Db) -> None:
    refused(db, "HD005", "select howdah.selector_matches('a = 1', '[]')")
    refused(db, "HD006", "select howdah.selector_matches('a = 1', '{}', priority => 10)")
    refused(db, "HD006", "select howdah.selector_matches('a = 1', '{}', priority => null)")
    refused(db, "HD005", "select howdah.selector_matches('a = 1', '{}', delivery_mode => 'express')")


def test_every_role_may_check_and_try_and_none_may_compile(connect: Connect) -> None:
    for kind in ("producer", "consumer", "browser", "auditor", "admin"):
        user = connect(f"howdah_{kind}")
        assert one(user, "select howdah.check_selector('a=1')") == "a = 1"
        assert one(user, "select howdah.selector_matches('a + 1 = 2', '{\"a\": 1}')") is True
        refused(user, "42501", "select howdah._compile_selector('a = 1')")
