"""What every test can ask for: a folder that a server's user can enter, and a running server."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from howdah.engine.embedded import EmbeddedServer

# The embedded server's major version; HOWDAH_TEST_DSN names another server altogether.
PG_VERSION = int(os.environ.get("HOWDAH_TEST_PG", "18"))


@dataclass(frozen=True)
class Server:
    """A PostgreSQL to test on; `embedded` is None if it is not ours to stop and start."""

    dsn: str
    embedded: EmbeddedServer | None = None


def _new_folder() -> Path:
    # Not pytest's tmp_path: root's lies below a closed folder, and its paths are long.
    return Path(tempfile.mkdtemp(prefix="howdah-test-")) / "server"


@pytest.fixture
def server_folder() -> Iterator[Path]:
    """A path where a server may make its folder; whatever runs there is stopped at the end."""
    folder = _new_folder()
    folder.parent.chmod(0o711)
    yield folder
    EmbeddedServer(folder).stop("immediate")
    shutil.rmtree(folder.parent)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for the whole run: superuser's DSN of a database that tests make others from."""
    if dsn := os.environ.get("HOWDAH_TEST_DSN"):
        yield Server(dsn)
        return
    folder = _new_folder()
    folder.parent.chmod(0o711)
    embedded = EmbeddedServer(folder, PG_VERSION)
    yield Server(embedded.start().dsn, embedded)
    embedded.stop("immediate")
    shutil.rmtree(folder.parent)
