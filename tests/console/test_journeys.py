"""Whole ways through the console in a real browser: an operator, an auditor and a developer."""

from __future__ import annotations

from typing import Any

import pytest
from console_browser import NEEDS, errors_of, served, text_of, wait_for_text
from console_paths import PATHS
from console_people import PASSWORD
from console_world import fill, of_the_bank
from psycopg.conninfo import make_conninfo
from support import Db, column, one, wait_until

from howdah.console import acts, app

pytestmark = NEEDS

FAILED = 9_672


def as_person(dsn: str, person: str) -> str:
    """The DSN of one of the four people."""
    return make_conninfo(dsn, user=f"console_{person}", password=PASSWORD)


def test_an_operator_replays_9430_messages_of_one_cause_in_batches(
    browser: Any, dsn: str, people: None, db: Db
) -> None:
    fill(dsn, FAILED)
    assert of_the_bank(FAILED) == 9_430
    waiting = one(db, "select live from howdah.queue_stats('orders')")
    with served(app(as_person(dsn, "operator"), live_seconds=0.2)) as address:
        browser.get(address)
        browser.find_element("xpath", "//tr[contains(., 'BankUnavailable')]//a[contains(@href, 'fingerprint')]").click()
        browser.find_element("xpath", "//h1[.='Dead messages']")
        browser.find_element("link text", "Replay this cause…").click()
        assert "all that match: 9,430 messages" in browser.find_element("class name", "preview").text
        browser.find_element("name", "reason").send_keys("the bank answers again")
        browser.find_element("css selector", "main form button").click()
        # Batches follow one another by themselves, and each says how many there were so far.
        wait_until(lambda: "So far: " in browser.page_source)
        assert " of 9,430." in browser.page_source
        wait_until(lambda: "9,430 done." in browser.page_source, 120)
        browser.find_element("link text", "Acts").click()
        wait_for_text(browser, "the bank answers again")
        assert not errors_of(browser)
    assert one(db, "select live from howdah.queue_stats('orders')") == waiting + 9_430
    left = db.execute(
        "select last_error_class, count(*) from howdah.list_poison('orders.dead', max_rows => 1000) group by 1"
    )
    assert dict(left.fetchall()) == {"UnknownCustomer": FAILED // 40, "KeyError": 1}
    batches = db.execute(
        "select actor, count(*) from howdah.list_acts(max_acts => 1000) where act = 'replayed' group by 1"
    )
    assert batches.fetchall() == [("console_operator", 19)]


def test_without_scripts_each_batch_waits_for_the_operator_who_can_stop(
    browser: Any, dsn: str, people: None, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(dsn, 60)
    monkeypatch.setattr(acts, "BATCH", 10)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    with served(app(as_person(dsn, "operator"))) as address:
        browser.get(f"{address}/act?act=discard&queue=orders.dead&filter=%7B%7D")
        browser.find_element("name", "reason").send_keys("of no use")
        browser.find_element("name", "typed").send_keys("orders.dead")
        browser.find_element("css selector", "main form button").click()
        browser.find_element("xpath", "//button[.='Next batch']").click()
        browser.find_element("xpath", "//*[contains(., 'So far: 20 done')]")
        browser.find_element("link text", "Stop here").click()
        browser.find_element("xpath", "//h1[.='Acts']")
    assert one(db, "select count(*)::int from howdah.browse('orders.dead', 100)") == 40


def test_an_operator_cancels_the_schedules_that_were_chosen(browser: Any, dsn: str, people: None, db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")
    for name in ("daily", "hourly", "weekly"):
        one(db, "select howdah.schedule('orders', 'x'::text, period => '1 hour', name => %s)", (name,))
    with served(app(as_person(dsn, "operator"))) as address:
        browser.get(f"{address}/schedules?queue=orders")
        for box in browser.find_elements("css selector", "input[name=target]")[:2]:
            box.click()
        browser.find_element("css selector", "button[value=cancel-schedule]").click()
        wait_for_text(browser, "It deals with 2 schedules: daily, hourly.")
        browser.find_element("name", "reason").send_keys("of no use")
        browser.find_element("name", "typed").send_keys("2")
        browser.find_element("css selector", "main form button").click()
        browser.find_element("xpath", "//h1[.='Cancel the schedule: done']")
        assert not errors_of(browser)
    assert column(db, "select name from howdah.list_schedules()") == ["weekly"]


@pytest.mark.parametrize("person", ["auditor", "browser"])
def test_an_auditor_reads_every_page_is_offered_no_act_and_no_form(
    browser: Any, dsn: str, people: None, db: Db, person: str
) -> None:
    fill(dsn, 60)
    number = one(db, "select message_id from howdah.browse('orders', 1)")
    before = one(db, "select array_agg(m::text) from howdah.browse('orders', 100) m")
    with served(app(as_person(dsn, person))) as address:
        browser.implicitly_wait(0)
        for path in [path for path in PATHS if not path.startswith("/act?")]:
            browser.get(address + path.replace("{id}", str(number)))
            assert browser.find_elements("tag name", "h1"), path
            offered = browser.find_elements("css selector", "a[href*='/act?'], form[method=post], button[name=act]")
            assert not offered, (path, [each.get_attribute("outerHTML") for each in offered])
        # A form that is asked for by its address. What is sent without one: test_acts.
        for act in ("purge", "pause", "discard"):
            browser.get(f"{address}/act?act={act}&queue=orders")
            assert browser.find_element("tag name", "h1").text == "Not done"
            assert "your role may not do this" in text_of(browser)
            assert not browser.find_elements("css selector", "main form")
    assert one(db, "select array_agg(m::text) from howdah.browse('orders', 100) m") == before
    assert f"console_{person}" not in column(db, "select distinct actor from howdah.list_acts(max_acts => 1000)")


def test_a_developer_follows_one_message_from_its_trace_to_its_failure(
    browser: Any, dsn: str, people: None, db: Db
) -> None:
    fill(dsn, 120)
    trace, span = (f"{41:x}".rjust(length, fill_with) for length, fill_with in ((32, "a"), (16, "b")))
    with served(app(as_person(dsn, "operator"))) as address:
        browser.get(f"{address}/messages")
        browser.find_element("name", "queue").send_keys("orders.dead")
        browser.find_element("name", "header").send_keys(f"traceparent=00-{trace}-{span}-01\n")
        browser.find_element("css selector", "td a[href*='/message?']").click()
        browser.find_element("xpath", "//h1[contains(., 'Message')]")
        assert '"order": 100041' in browser.find_element("tag name", "pre").text
        assert "[redacted]" in browser.find_element("tag name", "pre").text
        browser.find_element("css selector", ".history summary").click()
        history = browser.find_element("class name", "history").text
        for said in ("BankUnavailable", "Traceback (most recent call last):", 'File "shop/bank.py", line 17', trace):
            assert said in history
        # The address holds all of it: a colleague sees the same.
        browser.get(browser.current_url)
        assert '"order": 100041' in browser.find_element("tag name", "pre").text
        assert not errors_of(browser)
