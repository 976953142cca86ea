"""What every test can ask for: a folder that a server's user can enter, a running server, a migrated database on it."""

import gc
import os
import shlex
import shutil
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chance
import hypothesis
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from recycled import SINCE
from server_databases import (
    CLOCK_TEMPLATE,
    FAILED,
    RECYCLED,
    TEMPLATE,
    administered,
    connections,
    install_templates,
    made_database,
    made_databases,
    make_template,
    recycled_database,
)
from server_folders import PG_VERSION, copy_of, copy_server, new_folder, prepared, stopped_at_the_end
from small_spark import small_spark
from support import Clock, Connect, Db, Server

from howdah.engine.embedded import EmbeddedServer
from howdah.migrations import MigrationError, migrate
from howdah.procedures import Roles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Started in the background, by a shell without job control, we ignore Ctrl-C, and so would the programs that tests
# interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


PREPARED = pytest.StashKey[Path]()
"""The folder of the servers that a run's processes copy."""

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
        folder = new_folder().parent
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


@pytest.fixture
def server_folder() -> Iterator[Path]:
    """A path where a server may make its folder; whatever runs there is stopped at the end."""
    with stopped_at_the_end(EmbeddedServer(new_folder())) as embedded:
        yield embedded.folder


@pytest.fixture
def made_folder(empty_server: EmbeddedServer) -> Iterator[Path]:
    """The folder of a server that has been started and stopped before, once for all who ask."""
    with stopped_at_the_end(copy_of(empty_server)) as embedded:
        yield embedded.folder


@pytest.fixture(scope="session")
def empty_server(pytestconfig: pytest.Config) -> EmbeddedServer:
    """A server that was made and stopped, for copies: a copy costs a tenth of making one."""
    with prepared(pytestconfig.stash[PREPARED], "empty") as (embedded, missing):
        if missing:
            embedded.start()
            embedded.stop()
    return embedded


@pytest.fixture(scope="session")
def migrated_server(pytestconfig: pytest.Config, empty_server: EmbeddedServer) -> EmbeddedServer:
    """The same with Howdah in its database."""
    with prepared(pytestconfig.stash[PREPARED], "migrated") as (embedded, missing):
        if missing:
            copy_server(empty_server, embedded.folder)
            migrate(embedded.start().dsn)
            embedded.stop()
    return embedded


@pytest.fixture(scope="session")
def template_server(pytestconfig: pytest.Config, migrated_server: EmbeddedServer) -> EmbeddedServer:
    """The same with a template of tests' databases."""
    with prepared(pytestconfig.stash[PREPARED], "template") as (embedded, missing):
        if missing:
            copy_server(migrated_server, embedded.folder)
            install_templates(embedded.start().dsn)
            embedded.stop()
    return embedded


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """One server for all tests of a process: superuser's DSN of a database that tests make others from."""
    if dsn := os.environ.get("HOWDAH_TEST_DSN"):
        with administered(Server(dsn)) as named:
            yield named
        return
    with (
        stopped_at_the_end(copy_of(request.getfixturevalue("template_server"))) as embedded,
        administered(Server(embedded.start().dsn, embedded)) as own,
    ):
        yield own


@pytest.fixture
def private_server(migrated_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """A running embedded server that the test may stop, crash and start; its database is migrated."""
    with stopped_at_the_end(copy_of(migrated_server)) as embedded:
        embedded.start()
        yield embedded


@pytest.fixture(scope="module")
def module_server(migrated_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """As private_server, for all tests of a module."""
    with stopped_at_the_end(copy_of(migrated_server)) as embedded:
        embedded.start()
        yield embedded


@pytest.fixture
def migrated_copy(migrated_server: EmbeddedServer) -> Iterator[Callable[[], EmbeddedServer]]:
    """Makes one more server like `private_server`, not started yet, at each call."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(stopped_at_the_end(copy_of(migrated_server)))


@pytest.fixture
def empty_dsn(server: Server) -> Iterator[str]:
    """A new database without Howdah."""
    with made_database(server) as dsn:
        yield dsn


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
    with made_database(server) as dsn:
        try:
            migrate(dsn)
        except MigrationError:  # a role that may make databases but no roles
            migrate(dsn, roles=Roles.one(str(conninfo_to_dict(dsn)["user"])))
        make_template(dsn)
        yield str(conninfo_to_dict(dsn)["dbname"])


@pytest.fixture
def dsn(request: pytest.FixtureRequest, server: Server, template: str) -> Iterator[str]:
    """A migrated database of the test's own: as new, or with the mark own_database really new."""
    item = request.node
    if server.embedded is None or PG_VERSION < SINCE or item.get_closest_marker("own_database"):
        with made_database(server, template) as dsn:
            yield dsn
    else:
        with recycled_database(item, server, CLOCK_TEMPLATE if "clock" in item.fixturenames else template) as database:
            yield database.dsn


@pytest.fixture
def connect(request: pytest.FixtureRequest, dsn: str) -> Iterator[Connect]:
    """More connections to the test's database."""
    with connections(dsn, request.node.stash.get(RECYCLED, None)) as open_one:
        yield open_one


@pytest.fixture
def new_engine(server: Server, template: str) -> Iterator[Callable[[], str]]:
    """Makes one more migrated database at each call, and returns its DSN: another engine."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(made_database(server, template))


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


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """Spark with Java's start of several seconds, once for the run: a process has one."""
    with small_spark() as started:
        yield started


@pytest.fixture
def new_database(server: Server) -> Iterator[Callable[[], str]]:
    """Makes databases without Howdah, as many as asked for: returns the DSN of a new one."""
    with made_databases(server) as make:
        yield make
