"""Many selectors tried in one call: true, false, unknown, or where the error is."""

from __future__ import annotations

from support import Db

# Answers T, F, U, or E and the position of the error; one call for many selectors.
TRY = """
create function pg_temp.try(selector text, options jsonb) returns text language plpgsql as $$
declare
    said boolean;
    message text;
begin
    said := howdah.selector_matches(selector, options -> 'headers', coalesce((options ->> 'priority')::integer, 4),
        options ->> 'correlation_id', options ->> 'message_type', (options ->> 'message_id')::bigint,
        (options ->> 'sent_at')::timestamptz, coalesce(options ->> 'delivery_mode', 'persistent'));
    return case said when true then 'T' when false then 'F' else 'U' end;
exception when sqlstate 'HD023' then
    get stacked diagnostics message = message_text;
    return 'E' || substring(message from ' at position ([0-9]+)$');
end
$$
"""


def answers(db: Db, asked: list[tuple[str, str]]) -> list[str]:
    rows = db.execute(
        "select pg_temp.try(a.selector, a.options::jsonb) from unnest(%s::text[], %s::text[]) with ordinality"
        " a(selector, options, n) order by a.n",
        ([selector for selector, _ in asked], [options for _, options in asked]),
    ).fetchall()
    return [row[0] for row in rows]
