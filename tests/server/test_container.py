"""Howdah on PostgreSQL's own container images, where a Docker engine answers."""

import shutil
import subprocess

import pytest

from howdah.engine import Session, connect
from howdah.migrations import migrate


def _docker_answers() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "info"], capture_output=True, check=False, timeout=30).returncode == 0


@pytest.mark.parametrize("version", [14, 17])
def test_a_message_lives_its_life_in_a_container(version: int) -> None:
    if not _docker_answers():
        pytest.skip("no Docker engine answers, so PostgreSQL's container images were not tried")
    from testcontainers.postgres import PostgresContainer

    with PostgresContainer(f"postgres:{version}", driver=None) as container:
        dsn = container.get_connection_url()
        assert migrate(dsn).current
        with connect(dsn) as connection, connection.session() as session:
            connection.admin.create_queue("q")
            number = connection.send("q", {"n": 1})
            assert [m.message_id for m in session.receive("q")] == [number]
            session.rollback()
            with session.transaction():
                (message,) = session.receive("q")
                Session(session.connection).send("q", "next")
            assert message.data == {"n": 1}
            assert connection.admin.queue_stats("q")[0]["live"] == 1
