"""howdah result: what became of a message, by exit codes."""

import time

from command import howdah
from support import Db, one


def test_each_state_has_its_exit_code(dsn: str, db: Db) -> None:
    howdah(dsn, "queue", "create", "q", "-o", "keep_results_ms=60000", "-o", "max_failed_deliveries=1")
    done, failed, waiting = (howdah(dsn, "send", "q", body, "--json").json["message_id"] for body in "abc")
    one(db, "select count(*) from howdah.receive_message('q', %s)", (done,))
    one(db, "select howdah.keep_result('q', %s, %s::jsonb)", (done, '{"cups": [1, "zwei"], "no": null}'))
    one(db, "select howdah.record_failure('q', %s, error_class => 'OSError', error_text => 'no')", (failed,))

    found = howdah(dsn, "result", "q", done)
    assert (found.code, found.err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in found.out.splitlines())
    assert (lines["state"], lines["value"]) == ("done", '{"no": null, "cups": [1, "zwei"]}')
    assert "error_text" not in lines
    found = howdah(dsn, "result", "q", done, "--json", "--wait", "30s")
    assert (found.code, found.json["value"], found.json["errors"]) == (0, {"cups": [1, "zwei"], "no": None}, [])

    found = howdah(dsn, "result", "q", failed)
    assert (found.code, found.err) == (1, "")
    assert "OSError" in found.out
    assert howdah(dsn, "result", "q", failed, "--json").json["errors"][0]["text"] == "no"

    begun = time.monotonic()
    found = howdah(dsn, "result", "q", waiting, "--wait", "300ms", "--json")
    assert (found.code, found.json["state"]) == (3, "waiting")
    assert 0.3 <= time.monotonic() - begun < 30
    unknown = howdah(dsn, "result", "q", done + 10_000_000, "--wait", "1h")
    assert (unknown.code, unknown.out.split()[:2]) == (1, ["state", "unknown"])


def test_bad_arguments_are_one_line(dsn: str) -> None:
    howdah(dsn, "queue", "create", "q")
    for words, code, text in (
        (("result", "none", 1), 1, "there is no queue 'none'"),
        (("result", "q", "x"), 2, "valid integer"),
        (("result", "q"), 2, "MESSAGE"),
        (("result", "q", 10**30), 1, "out of range"),
        (("result", "q", 1, "--wait", "-1"), 2, "is not a duration"),
        (("result", "q", 1, "--role", "howdah_consumer"), 1, "permission denied"),
    ):
        found = howdah(dsn, *words)
        assert (found.code, found.out, found.err.count("\n")) == (code, "", 1), found
        assert text in found.err
