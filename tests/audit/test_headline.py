"""What an audit says first, on its page and in the terminal, claims no more than it has proved."""

import io
from dataclasses import replace
from pathlib import Path

from audit_page_support import NOTHING, many, page_of, queue, result, rule
from rich.console import Console

from howdah.audit import print_report
from howdah.audit.headline import Headline, headline
from howdah.audit.page import unproved
from howdah.cli.audit import code_of


def test_a_broken_rule_is_said_before_all_else() -> None:
    assert headline(result(rule("a", "error"), rule("b", "warning"))) == Headline(
        "Every message is accounted for.", "good"
    )
    assert headline(result(rule("a", "error", 2), rule("b", "warning", 1))) == Headline(
        "Not every message is accounted for: 1 rule broken.", "bad"
    )


def test_the_headline_says_of_how_many_queues_it_was_proved_and_how_to_have_more(tmp_path: Path) -> None:
    weak = [queue(f"q{number}", "sends not recorded independently") for number in range(12)]
    temporary = queue("_TEMP.1", "only what is present is known")
    first = headline(result(rule("b", "warning", 1), queues=(*weak, temporary, queue("q", messages=1))))
    assert first == Headline(
        "Every message is accounted for in 1 of 13 queues; in the other 12 a lost message would not show,"
        " for their sends are not on"
        " record; 1 warning.",
        "warn",
        "To have them recorded from now on: howdah queue alter NAME -o journal_level=full",
    )
    some = result(queues=(*weak[:1], queue("q")))
    assert headline(some).verdict.startswith("Every message is accounted for in 1 of 2 queues; in the other one")
    page = page_of(some, NOTHING, tmp_path)
    assert headline(some).verdict in page.text
    assert headline(some).advice in page.text
    shown = Console(file=io.StringIO(), width=300, force_terminal=True)
    print_report(some, shown)
    assert isinstance(shown.file, io.StringIO)
    assert "\x1b[1;33mEvery message is accounted for in 1 of 2 queues" in shown.file.getvalue()
    assert headline(some).advice in shown.file.getvalue()


def test_the_headline_judges_a_subscription_by_its_topic_and_names_the_command_that_helps() -> None:
    whole = (
        queue("q"),
        queue("t::all", "proved by its topic's sends"),
        queue("t::picky", "no record says what it should have got"),
    )
    assert headline(result(queues=whole)) == Headline("Every message is accounted for.", "good")
    alter = "To have them recorded from now on: howdah {}"
    short = (*whole, queue("u:client:s", "sends not recorded independently"))
    assert headline(result(queues=short)).verdict.startswith(
        "Every message is accounted for in 2 of 3 queues; in the other"
    )
    assert headline(result(queues=short)).advice == alter.format("topic alter NAME -o journal_level=full")
    silent = (*short, queue("t::off", "only what is present is known"), queue("weak", "only what is present is known"))
    assert headline(result(queues=silent)).advice == alter.format(
        "queue alter NAME -o journal_level=full, howdah topic alter NAME -o journal_level=full,"
        " howdah subscription alter NAME -o journal_level=exits"
    )
    said = unproved(result(queues=tuple(replace(one, messages=1) for one in silent)), many(1))
    assert "Queue t::picky: no record says what it should have got." in said
    assert not [line for line in said if "t::all" in line]


def test_what_was_not_proved_is_said(tmp_path: Path) -> None:
    weak = [queue(f"q{number}", "sends not recorded independently", messages=1) for number in range(7)]
    silent = queue("never used", "only what is present is known")
    sound = replace(result(queues=(*weak, silent, queue("q", messages=1, lost=2, unrecorded_in=3))), locked=False)
    said = "\n".join(unproved(sound, many(1)))

    assert "Queues q0, q1, q2, q3, q4 and 2 more: sends not recorded independently." in said
    assert "never used" not in said
    assert "3 messages came and 0 left without a record" in said
    assert "2 non-persistent messages are counted as lost" in said
    assert "before 2026-05-01 12:01:00 UTC" in said
    assert "no table was emptied" in said


def test_the_exit_code_is_that_of_the_gravest_finding_that_counts() -> None:
    sound, warned, broken = result(rule("a", "error")), result(rule("a", "warning", 1)), result(rule("a", "error", 1))
    codes = {on: [code_of(one, on) for one in (sound, warned, broken)] for on in ("error", "warning", "never")}
    assert codes == {"error": [0, 0, 1], "warning": [0, 6, 1], "never": [0, 0, 0]}
    assert code_of(result(rule("a", "notice", 1)), "warning") == 0


def test_the_terminals_table_breaks_no_name_of_a_queue_in_80_columns() -> None:
    names = ("orders.incoming.germany1", "q")
    terms = {"sent": 1234567, "unrecorded_in": 12, "consumed": 1234567, "lost": 12345, "live": 9}
    some = result(queues=(queue(names[0], "sends not recorded independently", **terms), queue(names[1])))
    shown = Console(file=io.StringIO(), width=80)
    print_report(some, shown)
    assert isinstance(shown.file, io.StringIO)
    text = shown.file.getvalue()
    assert names[0] in text
    assert "1,234,567 consumed" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "sends not recorded" in text


def test_the_terminal_says_what_a_subscription_got_and_over_what_rows_the_rules_went() -> None:
    some = result(queues=(queue("t::s", unrecorded_in=3, consumed=3), queue("q", unrecorded_in=2, live=2)))
    some = replace(some, rows={"messages": 1, "acts": 0, "journal": 1234})
    shown = Console(file=io.StringIO(), width=120)
    print_report(some, shown)
    assert isinstance(shown.file, io.StringIO)
    text = shown.file.getvalue()
    assert "3 from its topic" in text
    assert "2 not recorded" in text
    assert "what one snapshot has: 1 message, 1,234 journal rows. It took 1.5 s." in text
