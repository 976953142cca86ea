"""Services that demand TLS, on a server that has it: not all of the servers that come with Howdah do."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support import one, wait_until

from howdah.engine import connect
from howdah.engine.embedded import EmbeddedServer
from howdah.engine.errors import ServiceUnavailable
from howdah.migrations import migrate


@pytest.fixture
def tls_dsn(server_folder: Path) -> Iterator[str]:
    """A migrated database of a server with TLS, as a user who may not see other sessions, whatever the DSN says."""
    version = next((n for n in (17, 16, 15, 14) if Path(f"/usr/lib/postgresql/{n}/bin/postgres").exists()), None)
    if version is None or shutil.which("openssl") is None:
        pytest.skip("no PostgreSQL of Debian, or no openssl")
    server = EmbeddedServer(server_folder, version)
    dsn = server.start().dsn
    try:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as db:
            data = Path(one(db, "show data_directory"))
            key, certificate = data / "server.key", data / "server.crt"
            words = ["openssl", "req", "-new", "-x509", "-nodes", "-subj", "/CN=localhost", "-keyout", str(key)]
            subprocess.run([*words, "-out", str(certificate)], check=True, capture_output=True)
            for path in (key, certificate):
                path.chmod(0o600)
                with suppress(PermissionError):
                    os.chown(path, data.stat().st_uid, data.stat().st_gid)
            db.execute("alter system set ssl = on")
            db.execute("select pg_reload_conf()")
        wait_until(lambda: _has_tls(dsn))
        yield dsn
    finally:
        server.stop("immediate")


def _has_tls(dsn: str) -> bool:
    with psycopg.connect(make_conninfo(dsn, sslmode="prefer")) as db:
        return bool(one(db, "select ssl from pg_stat_ssl where pid = pg_backend_pid()"))


@pytest.mark.slow
@pytest.mark.behaviour("IMQ-69")
def test_ssljms_takes_a_session_with_tls_and_refuses_a_plain_one(tls_dsn: str) -> None:
    plain, encrypted = (make_conninfo(tls_dsn, sslmode=mode) for mode in ("disable", "require"))
    with connect(plain, service="admin") as connection:
        connection.services.alter("ssljms", active=True)
        connection.admin.create_queue("orders")
    with pytest.raises(ServiceUnavailable, match=r"cannot see .*pg_read_all_stats"):
        connect(encrypted, service="ssljms")
    with psycopg.connect(plain, autocommit=True) as db:
        db.execute("grant pg_read_all_stats to howdah_owner")
    with pytest.raises(ServiceUnavailable, match="this session has none"):
        connect(plain, service="ssljms")
    with connect(encrypted, service="ssljms") as connection:
        connection.send("orders", "x")
    with connect(encrypted, service="jms") as connection:
        connection.send("orders", "x")
