"""A file supplies the password if a DSN or the environment names it and nobody else may read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from howdah.engine import connect
from howdah.engine.errors import CannotConnect


@pytest.mark.behaviour("IMQ-70")
def test_a_file_supplies_the_password_if_nobody_else_may_read_it(
    dsn: str, orders: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = conninfo_to_dict(dsn)
    password = parts.pop("password", None)
    if not password:
        pytest.skip("this server asks for no password")
    monkeypatch.delenv("PGPASSWORD", raising=False)
    passfile = tmp_path / "passwords"
    passfile.write_text(f"*:*:*:{parts['user']}:{password}\n")
    passfile.chmod(0o600)
    without = make_conninfo("", **{name: str(value) for name, value in parts.items()}, passfile=str(passfile))
    with connect(without) as connection:
        connection.send(orders, "x")
    for mode in (0o644, 0o640, 0o602):
        passfile.chmod(mode)
        with pytest.raises(CannotConnect, match="not 0600"):
            connect(without)
    passfile.chmod(0o600)
    unnamed = make_conninfo(without, passfile=str(tmp_path / "none"))
    with pytest.raises(CannotConnect, match="No such file"):
        connect(unnamed)


@pytest.mark.behaviour("IMQ-70")
def test_no_passfile_but_libpqs_own_is_read_unless_the_dsn_or_the_environment_names_it(
    dsn: str, orders: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = conninfo_to_dict(dsn)
    password = parts.pop("password", None)
    if not password:
        pytest.skip("this server asks for no password")
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("PGPASSWORD", "PGPASSFILE", "HOWDAH_PASSFILE"):
        monkeypatch.delenv(variable, raising=False)
    passfile = tmp_path / "passwords"
    passfile.write_text(f"*:*:*:*:{password}\n")
    passfile.chmod(0o600)
    without = make_conninfo("", **{name: str(value) for name, value in parts.items()})
    with pytest.raises(CannotConnect, match="password"):
        connect(without)
    monkeypatch.setenv("HOWDAH_PASSFILE", str(passfile))
    with connect(without) as connection:
        connection.send(orders, "x")
    monkeypatch.delenv("HOWDAH_PASSFILE")
    own = passfile.rename(tmp_path / ".pgpass")
    with connect(without) as connection:
        connection.send(orders, "x")
    own.chmod(0o640)
    with pytest.raises(CannotConnect, match="password"):
        connect(without)
