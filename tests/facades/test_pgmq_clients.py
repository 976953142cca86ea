"""More published clients of pgmq, unchanged, on the facade: three in Python and two in JavaScript."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
import runtimes
from pgmq_sqlalchemy import PGMQueue as SqlAlchemyQueue
from pgmq_worlds import install_real
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import create_engine
from support import Db, column
from tembo_pgmq_python import PGMQueue as TemboQueue

from howdah.migrations import add_facade

pytestmark = pytest.mark.own_database


Place = dict[str, Any]


@pytest.fixture
def place(dsn: str) -> Place:
    add_facade(dsn, "pgmq")
    return conninfo_to_dict(dsn)


@pytest.fixture
def real(new_database: Callable[[], str]) -> Place:
    """The real pgmq, for clients that are older than 1.13: they must get the same from both."""
    made = new_database()
    install_real(made)
    with psycopg.connect(made, autocommit=True) as connection:
        connection.execute("select setval('howdah_test.clock', 1893456000000000)")
    return conninfo_to_dict(made)


def url(place: Place, scheme: str) -> str:
    return f"{scheme}://{place['user']}:{place['password']}@{place['host']}:{place['port']}/{place['dbname']}"


def seen(*answers: object) -> list[str]:
    """Answers without their times."""
    return [re.sub(r"datetime\.datetime\(.*?\)\)|sec=\d+|scrape_time='[^']*'", "time", repr(one)) for one in answers]


class ToldTemboQueue(TemboQueue):  # type: ignore[misc]  # it has no types
    """The client cannot be told. A subclass leaves one method out, as the guide says."""

    def _initialize_extensions(self, conn: object = None) -> None:
        pass


def with_tembo(place: Place) -> list[str]:
    client: Any = ToldTemboQueue(
        place["host"], str(place["port"]), place["dbname"], place["user"], place["password"], kwargs={"min_size": 1}
    )
    try:
        return seen(
            client.create_queue("tasks"),
            client.list_queues(),
            client.send("tasks", {"n": 1}),
            client.send_batch("tasks", [{"n": 2}, {"n": 3}], delay=0),
            client.read("tasks", vt=20),
            client.read_batch("tasks", batch_size=5),
            client.read_with_poll("tasks", max_poll_seconds=1, poll_interval_ms=50),
            client.set_vt("tasks", 3, 0),
            client.pop("tasks"),
            client.delete("tasks", 1),
            client.archive_batch("tasks", [2, 9]),
            client.metrics("tasks"),
            client.purge("tasks"),
            client.drop_queue("tasks"),
        )
    finally:
        client.pool.close()


@pytest.mark.slow
def test_tembo_pgmq_python_gets_what_the_real_pgmq_gives_it(place: Place, real: Place) -> None:
    answers = with_tembo(place)
    assert answers == with_tembo(real)
    assert answers[1:4] == ["['tasks']", "1", "[2, 3]"]
    assert answers[9:11] == ["True", "[2]"]


def with_sqlalchemy(place: Place) -> list[str]:
    engine = create_engine(url(place, "postgresql+psycopg"))
    client: Any = SqlAlchemyQueue(engine=engine)
    answers = seen(
        client.create_queue("tasks"),
        client.send("tasks", {"n": 1}),
        client.send_batch("tasks", [{"n": 2}, {"n": 3}]),
        client.read("tasks", vt=30),
        client.read_batch("tasks", batch_size=2, vt=30),
        client.set_vt("tasks", 2, 0),
        client.pop("tasks"),
        client.delete_batch("tasks", [1, 7]),
        client.archive("tasks", 3),
        client.metrics("tasks"),
        client.list_queues(),
    )
    with client.session_maker() as session:  # in the caller's transaction
        client.send("tasks", {"n": 4}, session=session, commit=False)
        session.rollback()
    answers += seen(client.purge("tasks"), client.drop_queue("tasks"))
    engine.dispose()
    return answers


def test_pgmq_sqlalchemy_gets_what_the_real_pgmq_gives_it(place: Place, real: Place) -> None:
    answers = with_sqlalchemy(place)
    assert answers == with_sqlalchemy(real)
    assert answers[1:3] == ["1", "[2, 3]"]
    assert answers[7:9] == ["[1]", "True"]
    assert answers[-2:] == ["0", "True"]


KOMBU = """
import sys
from kombu import Connection
options = {"check_extension": False}
with Connection(sys.argv[1], transport="kombu_pgmq.transport:Transport", transport_options=options) as connection:
    assert "kombu_pgmq" in type(connection.transport).__module__
    queue = connection.SimpleQueue("tasks")
    queue.put({"n": 1})
    message = queue.get(timeout=5)
    print(len(queue), message.payload)
    message.ack()
    queue.close()
"""


@pytest.mark.slow
def test_kombu_pgmq(place: Place, db: Db) -> None:
    """In a process of its own: where it is imported, the scheme pgmq no longer means kombu's own transport."""
    command = [sys.executable, "-P", "-W", "ignore", "-c", KOMBU, url(place, "pgmq")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.stdout, ran.returncode) == ("1 {'n': 1}\n", 0), ran.stderr  # it counts the hidden one
    assert column(db, "select msg_id from pgmq.q_tasks") == []


PGMQ_JS = """
import pgmq from "pgmq-js";
const client = await pgmq.Pgmq.new({ ...PLACE, ssl: false, max: 2 }, { skipExtensionCreation: true });
await client.queue.create("tasks");
const sent = await client.msg.send("tasks", { n: 1 });
const more = await client.msg.sendBatch("tasks", [{ n: 2 }, { n: 3 }, { n: 4 }]);
const read = await client.msg.read("tasks", 30);
const several = await client.msg.readBatch("tasks", 30, 2);
const popped = await client.msg.pop("tasks");
const deleted = [await client.msg.delete("tasks", 1), ...(await client.msg.deleteBatch("tasks", [3, 9]))];
const archived = await client.msg.archive("tasks", 2);
const metrics = await client.queue.getMetrics("tasks");
const names = (await client.queue.list()).map((one) => one.name);
console.log(JSON.stringify([sent, more, read.message, several.map((one) => one.msgId), popped.msgId,
    deleted, archived, metrics.totalMessages, names]));
await client.queue.drop("tasks");
await client.close();
"""

WAITING = """
import { Pgmq } from "@waiting/pgmq-js";
const client = new Pgmq("one", { connection: PLACE });
const queue = "tasks";
await client.queue.create({ queue });
const sent = await client.msg.send({ queue, msg: { n: 1 } });
const more = await client.msg.sendBatch({ queue, msgs: [{ n: 2 }, { n: 3 }] });
const read = await client.msg.read({ queue, vt: 30 });
const chosen = await client.msg.read({ queue, vt: 30, conditional: { n: 3 } });
const trx = await client.startTransaction();
await client.msg.send({ queue, msg: { n: 4 }, trx });
await trx.rollback();
const deleted = await client.msg.delete({ queue, msgId: read.msgId });
const archived = await client.msg.archive({ queue, msgId: chosen.msgId });
const metrics = await client.queue.getMetrics({ queue });
console.log(JSON.stringify([sent, more, read.message, chosen.message, deleted, archived, metrics.queueLength]));
await client.destroy();
"""


def run_node(program: str, place: Place, folder: Path, package: str) -> Any:
    modules = runtimes.node_modules()
    if not (modules / package).is_dir():
        pytest.skip(f"no {package}: npm install --prefix build {package}")
    (folder / "node_modules").symlink_to(modules)
    shown = {"host": place["host"], "port": int(place["port"]), "database": place["dbname"], "user": place["user"],
             "password": place["password"]}  # fmt: skip
    (folder / "client.mjs").write_text(program.replace("PLACE", json.dumps(shown)), encoding="utf-8")
    ran = subprocess.run(["node", "client.mjs"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_pgmq_js(place: Place, tmp_path: Path) -> None:
    answers = run_node(PGMQ_JS, place, tmp_path, "pgmq-js")
    assert answers == [1, [2, 3, 4], {"n": 1}, [2, 3], 4, [True, 3], True, 4, ["tasks"]]


def test_waiting_pgmq_js_after_its_own_tables_were_made(db: Db, place: Place, tmp_path: Path) -> None:
    folder = runtimes.node_modules() / "@waiting/pgmq-js/database/default/ddl"
    for name in ("tb_queue_meta", "tb_route"):
        if folder.is_dir():
            db.execute((folder / f"{name}.sql").read_bytes())
    answers = run_node(WAITING, place, tmp_path, "@waiting/pgmq-js")
    assert answers == [["1"], ["2", "3"], {"n": 1}, {"n": 3}, ["1"], ["3"], "1"]
