"""What every test can ask for: a folder that a server's user can enter, a running server, a migrated database on it."""

import fcntl
import gc
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import chance
import databases
import hypothesis
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from recycled import SINCE, Changed, Recycled
from support import Clock, Connect, Db, Server, column, identifier, one

from howdah.engine.embedded import EmbeddedServer
from howdah.migrations import MigrationError, migrate
from howdah.procedures import Roles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The embedded server's major version; HOWDAH_TEST_DSN names another server altogether.
PG_VERSION = int(os.environ.get("HOWDAH_TEST_PG", "18"))

# Started in the background, by a shell without job control, we ignore Ctrl-C, and so would the programs that tests
# interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


PREPARED = pytest.StashKey[Path]()
"""The folder of the servers that a run's processes copy."""

TEMPLATE = "howdah_template"
"""The database, on those servers, that tests' databases are copied from."""

CLOCK_TEMPLATE = "howdah_clock_template"
"""The same with a clock that tests move."""

RECYCLED = pytest.StashKey[Recycled]()
"""A test's database, if other tests have it too."""

FAILED = pytest.StashKey[bool]()
"""Whether a test has failed so far."""

# By default the same examples in each run; `make chaos` takes new ones and says how to repeat one. A busy machine is no
# fault of a change: no example is too slow.
ANY_SPEED = hypothesis.settings(deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("fixed", ANY_SPEED, derandomize=True, database=None)
hypothesis.settings.register_profile("new", ANY_SPEED, print_blob=True, database=None)
hypothesis.settings.load_profile("new" if chance.NEW else "fixed")


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder, once for a run with several processes."""
    given = getattr(config, "workerinput", {}).get("prepared")
    if given is None:
        folder = _new_folder().parent
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.stash[PREPARED] = Path(given) if given else folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist where the folder is."""
    node.workerinput["prepared"] = str(node.config.stash[PREPARED])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage among the tests, neither now nor later: none of them is any, and they are many."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have one process take all tests of a file that use Spark, with --dist loadgroup.

    They come first, since they take longest: each process starts Spark once, and Java is fast after some audits. Of
    the tests with the mark first_case all cases but the first are slow.

    With HOWDAH_TEST_FIRST, keep the first case of each test alone: what another version of PostgreSQL does otherwise
    shows in it.
    """
    if os.environ.get("HOWDAH_TEST_FIRST"):
        firsts = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
        kept = set(firsts.values())
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]
    begun = set()
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(f"spark {item.path.stem}"))
        if item.get_closest_marker("first_case") is not None:
            if (test := item.nodeid.partition("[")[0]) in begun:
                item.add_marker(pytest.mark.slow)
            begun.add(test)


def pytest_runtest_setup() -> None:
    """Forget the seeds of the test before."""
    chance.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say how a random test that failed is repeated."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    if report.failed and (seed := chance.last_used()) is not None:
        settings = {name: value for name, value in os.environ.items() if name.startswith("HOWDAH_TEST_")}
        settings["HOWDAH_TEST_SEED"] = str(seed)
        given = " ".join(f"{name}={shlex.quote(value)}" for name, value in sorted(settings.items()))
        command = f"{given} .venv/bin/pytest {shlex.quote(item.nodeid)}"
        report.sections.append(("To repeat it", command))
    return report


# What the servers of a run may need at most, in bytes: most of it WAL of hundreds of databases.
ROOM = 4 << 30


def _place() -> str | None:
    """Where servers' folders are made: in memory, else where the system has its temporary files.

    A test's database is 10 MB, written twice (files and WAL), and on a disk all tests wait for it together. The server
    is as durable as ever, fsync and all: tests crash servers, never the machine, whose memory outlives them.
    """
    memory = Path("/dev/shm")
    with suppress(OSError):
        found = os.statvfs(memory)
        if found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC and os.access(memory, os.W_OK):
            return str(memory)
    return None


def _new_folder() -> Path:
    # Not pytest's tmp_path: root's lies below a closed folder, and its paths are long.
    folder = Path(tempfile.mkdtemp(prefix="howdah-test-", dir=_place())) / "server"
    folder.parent.chmod(0o711)
    return folder


@contextmanager
def _stopped_at_the_end(embedded: EmbeddedServer) -> Iterator[EmbeddedServer]:
    try:
        yield embedded
    finally:
        embedded.stop("immediate")
        shutil.rmtree(embedded.folder.parent)


def _copy(made: EmbeddedServer, folder: Path) -> None:
    """Copy a stopped server; the copy takes a port of its own."""
    # Not shutil.copytree: it leaves the files to root, and the server's user could not read them.
    subprocess.run(["cp", "-a", str(made.folder), str(folder)], check=True)
    (folder / "port").unlink()


def _copy_of(made: EmbeddedServer) -> EmbeddedServer:
    folder = _new_folder()
    _copy(made, folder)
    return EmbeddedServer(folder, PG_VERSION)


_admins: dict[str, Db] = {}
_recycled: dict[tuple[str, str], Recycled] = {}


@contextmanager
def _administered(server: Server) -> Iterator[Server]:
    try:
        yield server
    finally:
        for key in [key for key in _recycled if key[0] == server.dsn]:
            _recycled.pop(key).drop()
        if (admin := _admins.pop(server.dsn, None)) is not None:
            admin.close()


def _admin(server: Server) -> Db:
    """The connection that makes and drops databases, one for each server.

    To open one takes as long as to drop a database.
    """
    admin = _admins.get(server.dsn)
    if admin is None or admin.closed:
        admin = _admins[server.dsn] = psycopg.connect(server.dsn, autocommit=True)
    return admin


@contextmanager
def _new_database(server: Server, template: str = "template1") -> Iterator[str]:
    """A database of its own: its DSN. Gone at the end, whoever is still in it."""
    name = databases.new_name()
    databases.create(_admin(server), name, template)
    try:
        yield make_conninfo(server.dsn, dbname=name)
    finally:
        databases.drop(_admin(server), name)


@pytest.fixture
def server_folder() -> Iterator[Path]:
    """A path where a server may make its folder; whatever runs there is stopped at the end."""
    with _stopped_at_the_end(EmbeddedServer(_new_folder())) as embedded:
        yield embedded.folder


@pytest.fixture
def made_folder(empty_server: EmbeddedServer) -> Iterator[Path]:
    """The folder of a server that has been started and stopped before, once for all who ask."""
    with _stopped_at_the_end(_copy_of(empty_server)) as embedded:
        yield embedded.folder


@contextmanager
def _prepared(folder: Path, name: str) -> Iterator[tuple[EmbeddedServer, bool]]:
    """A stopped server that all processes of the run copy, and whether this one has to make it first.

    Others wait for it.
    """
    made = folder / f"{name}-is-made"
    with (folder / f"{name}-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield EmbeddedServer(folder / name, PG_VERSION), not made.exists()
        made.touch()


@pytest.fixture(scope="session")
def empty_server(pytestconfig: pytest.Config) -> EmbeddedServer:
    """A server that was made and stopped, for copies: a copy costs a tenth of making one."""
    with _prepared(pytestconfig.stash[PREPARED], "empty") as (embedded, missing):
        if missing:
            embedded.start()
            embedded.stop()
    return embedded


@pytest.fixture(scope="session")
def migrated_server(pytestconfig: pytest.Config, empty_server: EmbeddedServer) -> EmbeddedServer:
    """The same with Howdah in its database."""
    with _prepared(pytestconfig.stash[PREPARED], "migrated") as (embedded, missing):
        if missing:
            _copy(empty_server, embedded.folder)
            migrate(embedded.start().dsn)
            embedded.stop()
    return embedded


@pytest.fixture(scope="session")
def template_server(pytestconfig: pytest.Config, migrated_server: EmbeddedServer) -> EmbeddedServer:
    """The same with a template of tests' databases."""
    with _prepared(pytestconfig.stash[PREPARED], "template") as (embedded, missing):
        if missing:
            _copy(migrated_server, embedded.folder)
            dsn = embedded.start().dsn
            with psycopg.connect(make_conninfo(dsn, dbname="template1"), autocommit=True) as admin:
                databases.create(admin, TEMPLATE, str(conninfo_to_dict(dsn)["dbname"]))
                # A database that many tests have one after another would be analyzed while one of them runs.
                admin.execute("alter system set autovacuum_naptime = '1h'")
                _make_template(make_conninfo(dsn, dbname=TEMPLATE))
                databases.create(admin, CLOCK_TEMPLATE, TEMPLATE)
            with psycopg.connect(make_conninfo(dsn, dbname=CLOCK_TEMPLATE), autocommit=True) as db:
                Clock(db).install()
            embedded.stop()
    return embedded


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """One server for all tests of a process: superuser's DSN of a database that tests make others from."""
    if dsn := os.environ.get("HOWDAH_TEST_DSN"):
        with _administered(Server(dsn)) as named:
            yield named
        return
    with (
        _stopped_at_the_end(_copy_of(request.getfixturevalue("template_server"))) as embedded,
        _administered(Server(embedded.start().dsn, embedded)) as own,
    ):
        yield own


@pytest.fixture
def private_server(migrated_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """A running embedded server that the test may stop, crash and start; its database is migrated."""
    with _stopped_at_the_end(_copy_of(migrated_server)) as embedded:
        embedded.start()
        yield embedded


@pytest.fixture(scope="module")
def module_server(migrated_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """As private_server, for all tests of a module."""
    with _stopped_at_the_end(_copy_of(migrated_server)) as embedded:
        embedded.start()
        yield embedded


@pytest.fixture
def migrated_copy(migrated_server: EmbeddedServer) -> Iterator[Callable[[], EmbeddedServer]]:
    """Makes one more server like `private_server`, not started yet, at each call."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(_stopped_at_the_end(_copy_of(migrated_server)))


@pytest.fixture
def empty_dsn(server: Server) -> Iterator[str]:
    """A new database without Howdah."""
    with _new_database(server) as dsn:
        yield dsn


def _make_template(dsn: str) -> None:
    """Make a migrated database one that is cheap to copy."""
    with psycopg.connect(dsn, autocommit=True) as db:
        superuser = one(db, "select rolsuper from pg_roles where rolname = current_user")
        for role in column(db, "select distinct role_name from howdah.destination_grants"):
            if role != db.info.user:
                db.execute(psycopg.sql.SQL("grant {} to current_user").format(identifier(role)))
        # As if the totals were kept long ago: kept just now, they would do for queue_stats as soon as the run has made
        # 20,000 transactions.
        db.execute("update howdah.engine set totals_at = totals_at - interval '1 day'")
        # A year of partitions is 200 files more to copy for every test; the default one takes their rows.
        for week in column(
            db,
            "select inhrelid::regclass::text from pg_inherits where inhparent = 'howdah.journal'::regclass"
            " and inhrelid <> 'howdah.journal_default'::regclass order by 1 offset 2",
        ):
            db.execute(psycopg.sql.SQL("drop table howdah.{}").format(identifier(week.removeprefix("howdah."))))
        if superuser:
            databases.shrink(db)


@pytest.fixture(scope="session")
def template(server: Server) -> Iterator[str]:
    """Name of the database, migrated once, that each test's own is copied from."""
    if server.embedded is not None:
        # PostgreSQL keeps the first look at a database's catalog in a file, and forgets it at each start: copies have
        # it too.
        for name in (TEMPLATE, CLOCK_TEMPLATE):
            psycopg.connect(make_conninfo(server.dsn, dbname=name)).close()
        yield TEMPLATE
        return
    with _new_database(server) as dsn:
        try:
            migrate(dsn)
        except MigrationError:  # a role that may make databases but no roles
            migrate(dsn, roles=Roles.one(str(conninfo_to_dict(dsn)["user"])))
        _make_template(dsn)
        yield str(conninfo_to_dict(dsn)["dbname"])


@contextmanager
def _recycled_database(item: pytest.Item, server: Server, template: str) -> Iterator[Recycled]:
    """One that the test before had, as new. The next one has it too, unless the test failed or changed its catalog."""
    key = server.dsn, template
    database = _recycled.pop(key, None) or Recycled(_admin(server), server.dsn, template)
    item.stash[RECYCLED] = database
    yield database
    try:
        if FAILED in item.stash:
            raise Changed("the test failed")
        database.renew()
    except (Changed, psycopg.Error):
        database.drop()
    else:
        _recycled[key] = database


@pytest.fixture
def dsn(request: pytest.FixtureRequest, server: Server, template: str) -> Iterator[str]:
    """A migrated database of the test's own: as new, or with the mark own_database really new."""
    item = request.node
    if server.embedded is None or PG_VERSION < SINCE or item.get_closest_marker("own_database"):
        with _new_database(server, template) as dsn:
            yield dsn
    else:
        with _recycled_database(item, server, CLOCK_TEMPLATE if "clock" in item.fixturenames else template) as database:
            yield database.dsn


@pytest.fixture
def connect(request: pytest.FixtureRequest, dsn: str) -> Iterator[Connect]:
    """More connections to the test's database."""
    opened: list[Db] = []
    database = request.node.stash.get(RECYCLED, None)

    def open_one(role: str | None = None) -> Db:
        connection: Db = database.connect() if database else psycopg.connect(dsn, autocommit=True)
        opened.append(connection)
        if role is not None:
            if one(connection, "select admin_role = producer_role from howdah.engine"):
                pytest.skip("installed in one-role mode: this server's role may not create roles")
            connection.execute(psycopg.sql.SQL("set role {}").format(identifier(role)))
        return connection

    yield open_one
    for connection in opened:
        if database:
            database.leave(connection)
        else:
            connection.close()


@pytest.fixture
def new_engine(server: Server, template: str) -> Iterator[Callable[[], str]]:
    """Makes one more migrated database at each call, and returns its DSN: another engine."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(_new_database(server, template))


@pytest.fixture
def db(connect: Connect) -> Db:
    """An autocommit connection as the role that installed Howdah."""
    return connect()


@pytest.fixture
def clock(request: pytest.FixtureRequest, connect: Connect) -> Clock:
    """howdah.now() under the test's control, in its database."""
    made = Clock(connect())
    if RECYCLED in request.node.stash:
        made.start()
    else:
        made.install()
    return made


INTERPRETED = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
"""Spark compiles no code for a test's few rows: an audit takes 9 seconds of CPU where it took 15.

Commands in processes of their own do.
"""

LASTING = "-XX:TieredStopAtLevel=4 -XX:+UseSerialGC"
"""Java of a run compiles in full, which a command ends too soon for: a late audit takes 5.8 seconds instead of 7.2."""


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """Spark with Java's start of several seconds, once for the run: a process has one."""
    session = pytest.importorskip("howdah.audit.session", exc_type=ImportError)
    with (
        patch.dict(session._SETTINGS, INTERPRETED),
        patch.object(session, "_LOCAL_JAVA_OPTIONS", f"{session._LOCAL_JAVA_OPTIONS} {LASTING}"),
        session.spark_session("local[2]", partitions=2) as started,
    ):
        yield started


@pytest.fixture
def new_database(server: Server) -> Iterator[Callable[[], str]]:
    """Makes databases without Howdah, as many as asked for: returns the DSN of a new one."""
    made = []

    def make() -> str:
        manager = _new_database(server)
        made.append(manager)
        return manager.__enter__()

    yield make
    for manager in made:
        manager.__exit__(None, None, None)
