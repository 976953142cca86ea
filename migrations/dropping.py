"""Drop the schema of a facade or of pgmq with its contents, but nothing of anybody else's that stands on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from .roles import MigrationError

# What DROP … CASCADE would take along from other schemas: views, functions, columns, defaults, constraints, triggers.
_OUTSIDE = """
with classes as (
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname <> all ('{%s}') and n.nspname !~ '^pg_(toast|temp)'
), things as (
    select 'pg_class'::regclass as kind, c.oid, 0 as part from classes c
    union all
    select 'pg_class'::regclass, a.attrelid, a.attnum::integer from pg_attribute a join classes c on c.oid = a.attrelid
    where a.attnum > 0 and not a.attisdropped
    union all
    select 'pg_attrdef'::regclass, f.oid, 0 from pg_attrdef f join classes c on c.oid = f.adrelid
    union all
    select 'pg_constraint'::regclass, o.oid, 0 from pg_constraint o join classes c on c.oid = o.conrelid
    union all
    select 'pg_trigger'::regclass, t.oid, 0 from pg_trigger t join classes c on c.oid = t.tgrelid
    where not t.tgisinternal
    union all
    select 'pg_proc'::regclass, p.oid, 0 from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname <> all ('{%s}')
)
select t.kind::integer, t.oid::bigint, t.part, pg_describe_object(t.kind, t.oid, t.part) from things t"""


class Runner(Protocol):
    """What runs statements."""

    def run(self, sql: str) -> list[tuple[object, ...]]:
        """Run statements, and return the rows of the last one."""


@contextmanager
def nothing_else(database: Runner, *schemas: str) -> Iterator[None]:
    """Raise MigrationError if what is dropped within takes anything along from outside of these schemas."""
    query = _OUTSIDE % (",".join(schemas), ",".join(schemas))
    before = {row[:3]: row[3] for row in database.run(query)}
    yield
    lost = before.keys() - {row[:3] for row in database.run(query)}
    if lost:
        named = ", ".join(sorted(str(before[one]) for one in lost)[:5])
        raise MigrationError(f"{named}: this stands on {schemas[0]}, and would go with it. Drop or change it first.")
