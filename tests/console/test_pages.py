"""Every page of the console, in four roles, with whatever a message holds."""

from __future__ import annotations

import re
from urllib.parse import quote

import psycopg
import pytest
from console_paths import PATHS
from console_people import as_named
from psycopg.types.json import Jsonb
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from support import Db, deliver_and_fail, one

from howdah.console import Host, app
from howdah.console.headers import POLICY
from howdah.console.pages import queues
from howdah.console.rendering import MENU

HOSTILE = "<script>alert(1)</script>\u202e evil \u0007 \"'&"


@pytest.mark.parametrize("person", ["operator", "auditor", "browser", "nobody"])
def test_a_page_answers_each_role_or_says_what_it_lacks(client: TestClient, orders: int, person: str) -> None:
    for path in PATHS:
        answer = client.get(path.replace("{id}", str(orders)), headers={"x-test-person": person})
        assert answer.status_code == 200 or (answer.status_code == 403 and person != "operator"), (path, answer.text)
        assert answer.headers["content-security-policy"] == POLICY, path
        assert answer.headers["cache-control"] == "no-store", path
        assert len(answer.content) < 150_000, path
        assert "<h1>" in answer.text, path
        if person == "nobody":
            assert "north" not in answer.text, path
            assert "item" not in answer.text, path


@pytest.mark.slow
def test_an_auditor_reads_every_page_and_is_offered_no_act(client: TestClient, orders: int) -> None:
    client.headers["x-test-person"] = "auditor"
    for path in PATHS:
        if not path.startswith(("/act?", "/kept?")):
            page = client.get(path.replace("{id}", str(orders)))
            assert page.status_code == 200, path
            assert "/act?" not in page.text, path
            assert "/kept?" not in page.text, path
    assert client.get("/kept?queue=orders").status_code == 403, "an auditor does not browse"
    assert all(f'href="{path}"' in client.get("/").text for path, _ in MENU)


def test_an_auditor_sees_bodies_after_redaction_and_only_where_the_rules_let_him_browse(
    client: TestClient, db: Db, orders: int
) -> None:
    client.headers["x-test-person"] = "auditor"
    one(db, "select howdah.set_redaction('orders', '$.item')")
    for path in ("/messages?queue=orders", f"/message?queue=orders&id={orders}"):
        page = client.get(path)
        assert page.status_code == 200
        assert "[redacted]" in page.text
    deliver_and_fail(db, "orders", error_class="Timeout", error_text="no answer of shop 5")
    assert "no answer of shop 5" in client.get("/causes").text
    one(db, "select howdah.revoke_queue('orders', 'browse', 'howdah_auditor')")
    assert client.get("/messages?queue=orders").status_code == 403
    assert client.get(f"/message?queue=orders&id={orders}").status_code == 403
    assert "no answer of shop 5" not in client.get("/causes").text


RAW = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


def raw_times(page: str) -> list[str]:
    """Times that the script cannot show in the reader's zone, outside of messages, errors and what people typed."""
    for kept in (r"<time .*?</time>", r"<pre.*?</pre>", r"<input[^>]*>", r"<\w+ [^>]*>"):
        page = re.sub(kept, " ", page, flags=re.DOTALL)
    return RAW.findall(page)


@pytest.mark.slow
def test_every_time_on_a_page_is_shown_in_the_readers_zone(client: TestClient, db: Db, orders: int) -> None:
    one(db, "select howdah.schedule('orders', 'x'::text, '0 6 * * *', starts_at => now(), name => 'daily')")
    one(db, "select howdah.park_messages('orders', array[%s]::bigint[], delay => '1 day')", (orders,))
    filled = "/act?act=discard&queue=orders&filter=" + quote('{"sent_after": "2026-01-02T03:04:05+00:00"}')
    for path in (*PATHS, filled, "/message?queue=orders&id={id}"):
        page = client.get(path.replace("{id}", str(orders))).text
        assert raw_times(page) == [], path
    assert "up since <time datetime=" in client.get("/").text
    assert '<time datetime="2026-01-02T03:04:05+00:00">' in client.get(filled).text


def test_no_page_has_a_script_or_style_of_its_own_or_a_file_of_another_host(client: TestClient, orders: int) -> None:
    for path in PATHS:
        page = client.get(path.replace("{id}", str(orders))).text
        assert not re.findall(r"<style|\sstyle=|\son\w+=|javascript:", page), path
        assert re.findall(r"<script[^>]*>", page) == ['<script src="/static/console.js" defer>']
        assert not re.findall(r"""(?:src|href|action)=["']?(?:https?:)?//""", page), path


@pytest.mark.slow
def test_links_keep_the_prefix_that_the_console_is_mounted_under(
    login_dsn: str, orders: int, client: TestClient
) -> None:
    inner = client.app
    host = Starlette(routes=[Mount("/deep/howdah", inner)])
    with TestClient(host, headers={"x-test-person": "operator"}) as browser:
        for path in PATHS:
            answer = browser.get("/deep/howdah" + path.replace("{id}", str(orders)))
            assert answer.status_code == 200
            links = re.findall(r"""(?:src|href|action)="(/[^"]*)""", answer.text)
            assert links
            assert all(link.startswith("/deep/howdah/") for link in links), links
        assert browser.get("/deep/howdah/static/console.css").status_code == 200
        form = browser.get("/deep/howdah/act?act=pause&queue=orders")
        token = re.findall(r'name="token" value="(\w+)"', form.text)
        done = browser.post(
            "/deep/howdah/act", data={"act": "pause", "queue": "orders", "reason": "r", "token": token[0]}
        )
        assert done.status_code == 200, done.text


def test_hostile_text_is_shown_and_does_nothing(client: TestClient, db: Db) -> None:
    one(db, "select howdah.create_queue('orders', '{\"max_failed_deliveries\": 1}')")
    number = one(
        db,
        "select howdah.send('orders', %s::text, headers => jsonb_build_object('h', %s::text),"
        " message_type => %s, correlation_id => %s)",
        (HOSTILE, HOSTILE, HOSTILE, HOSTILE),
    )
    deliver_and_fail(db, "orders", error_text=HOSTILE, error_class=HOSTILE)
    queue = one(db, "select exception_queue from howdah.list_poison()")
    for path in ("/", f"/message?queue={queue}&id={number}", f"/messages?queue={queue}", "/causes", "/dead"):
        page = client.get(path).text
        assert "alert(1)" in page, path
        assert "<script>alert" not in page
        assert "\u202e" not in page
        assert "\u0007" not in page
        assert "\\u202e" in page


def test_a_body_of_a_megabyte_is_cut_and_one_that_is_no_text_is_shown_as_numbers(client: TestClient, db: Db) -> None:
    one(db, "select howdah.create_queue('orders')")
    large = one(db, "select howdah.send('orders', repeat('<b>', 350000))")
    broken = one(db, r"select howdah.send('orders', '\xfffe00ff'::bytea)")
    page = client.get(f"/message?queue=orders&id={large}")
    assert len(page.content) < 500_000
    assert "<b><b>" not in page.text
    assert "characters more" in page.text
    assert "fffe00ff" in client.get(f"/message?queue=orders&id={broken}").text


def test_what_a_rule_hides_never_reaches_the_page(client: TestClient, db: Db, orders: int) -> None:
    one(db, "select howdah.set_redaction('orders', '$.item')")
    page = client.get(f"/message?queue=orders&id={orders}").text
    assert "item" in page
    assert "7" not in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)[0]


def test_a_look_changes_nothing_about_a_message(client: TestClient, db: Db, orders: int) -> None:
    before = one(db, "select array_agg(m::text) from howdah.browse('orders') m")
    for path in PATHS:
        client.get(path.replace("{id}", str(orders)))
    assert one(db, "select array_agg(m::text) from howdah.browse('orders') m") == before
    assert one(db, "select count(*)::int from howdah.operator_acts") == 0


def test_a_filter_in_the_url_finds_messages_and_says_how_far_it_looked(client: TestClient, orders: int) -> None:
    page = client.get("/messages?queue=orders&header=shop%3Dnorth&body=item").text
    assert f">{orders}<" in page.replace("<bdi>", "").replace("</bdi>", "")
    assert "Looked at 1 messages: that is all" in page
    assert "No message here fits" in client.get("/messages?queue=orders&header=shop%3Dsouth").text


def test_search_leads_to_a_queue_a_message_or_the_list(client: TestClient, orders: int) -> None:
    assert client.get("/search?q=orders").headers["location"] == "/queue?name=orders"
    assert client.get(f"/search?q={orders}").headers["location"] == f"/message?queue=orders&id={orders}"
    assert client.get("/search?q=ord").headers["location"] == "/queues?like=ord"


def test_an_unknown_queue_is_said_to_be_none(client: TestClient) -> None:
    answer = client.get("/messages?queue=none")
    assert answer.status_code == 404
    assert "none" in answer.text


def test_a_statement_that_takes_too_long_is_ended(login_dsn: str, db: Db, orders: int) -> None:
    console = app(login_dsn, Host(as_named), timeout=0.2)
    with db.transaction():
        db.execute("lock table howdah.destinations in access exclusive mode")
        with TestClient(console, headers={"x-test-person": "operator"}) as browser:
            answer = browser.get("/queues")
    assert answer.status_code in (409, 500, 504)
    assert "Not done" in answer.text


def test_monitoring_finds_metrics_and_health(client: TestClient, orders: int) -> None:
    answer = client.get("/metrics")
    assert answer.text.endswith("# EOF\n")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert client.get("/metrics", headers={"x-test-person": "nobody"}).status_code == 403
    assert client.get("/healthz", headers={}).text == "ok\n"
    assert client.get("/readyz").status_code in (200, 503)


@pytest.mark.first_case
@pytest.mark.parametrize(("person", "left_out"), [("operator", set()), ("browser", {"/acts", "/changes"})])
def test_the_menu_leaves_out_what_the_role_may_not_read(client: TestClient, person: str, left_out: set[str]) -> None:
    page = client.get("/", headers={"x-test-person": person}).text
    menu = page.split('<nav aria-label="Pages">')[1].split("</nav>")[0]
    paths = [path for path, _ in MENU]
    shown = {path for path in paths if f'href="{path}"' in menu}
    assert left_out <= set(paths) - shown
    for path in paths:
        status = client.get(path, headers={"x-test-person": person}).status_code
        assert (status == 200) == (path in shown), path


def test_the_overview_does_without_causes_that_take_too_long(
    client: TestClient, db: Db, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver_and_fail(db, "orders", error_text="broken")
    monkeypatch.setattr(queues, "CAUSES_MS", 60_000)
    assert "broken" in client.get("/").text
    monkeypatch.setattr(queues, "CAUSES_MS", 50)
    with psycopg.connect(db.info.dsn, password=db.info.password) as other:
        other.execute("lock table howdah.poison_details")
        page = client.get("/")
    assert page.status_code == 200
    assert "too many failures to group them here" in page.text


def test_search_leads_to_topics_schedules_and_others_by_their_names(client: TestClient, db: Db, orders: int) -> None:
    one(db, "select howdah.create_topic('news')")
    one(db, "select howdah.subscribe('news', 'reader')")
    one(db, "select howdah.schedule('orders', 'x', period => '1 hour', name => 'nightly')")
    one(db, "select howdah.register_worker('shop-1', 'h', 1, 1, array['orders'])")
    for sought, place in (
        ("news", "/subscriptions?topic=news"),
        ("READER", "/subscriptions?topic=news"),
        ("nightly", "/schedules?queue=orders"),
        ("shop-1", "/workers"),
        ("r", "/found?part=r"),
        ("none", "/queues?like=none"),
    ):
        assert client.get("/search", params={"q": sought}).headers["location"] == place, sought
    page = re.sub(r"</?bdi>", "", client.get("/found?part=r").text)
    for link in ("/queue?name=orders", "/subscriptions?topic=news"):
        assert f'href="{link}"' in page


@pytest.mark.first_case
@pytest.mark.parametrize("pasted", ["{}", "00-{}-b7ad6b7169203331-01", "traceparent: 00-{}-b7ad6b7169203331-01"])
def test_a_pasted_trace_leads_to_its_messages_in_every_queue(client: TestClient, db: Db, pasted: str) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    sent = []
    for queue in ("bills", "orders"):
        one(db, "select howdah.create_queue(%s)", (queue,))
        header = f'{{"traceparent": "00-{trace}-b7ad6b7169203331-01"}}'
        sent.append(one(db, "select howdah.send(%s, 'tea', headers => %s)", (queue, header)))
        one(db, "select howdah.send(%s, 'other'::text)", (queue,))
    place = client.get("/search", params={"q": pasted.format(trace.upper())}).headers["location"]
    assert place == f"/trace?id={trace}"
    page = client.get(place).text
    assert re.findall(r"id=(\d+)", page) == [str(number) for number in sent]
    assert "Looked at 4 messages and at the newest 10,000 failures: that is all" in page
    assert client.get("/trace?id=x").status_code == 400
    assert client.get(f"/trace?id={trace}&after=x").status_code == 400


def test_a_message_is_found_by_the_trace_in_which_its_handler_failed(client: TestClient, db: Db, orders: int) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    deliver_and_fail(db, "orders", details=Jsonb({"trace_id": trace}))
    page = client.get(f"/trace?id={trace}").text
    assert f"id={orders}" in page
    assert "failure" in page
