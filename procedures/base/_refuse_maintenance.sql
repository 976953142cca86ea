-- howdah._refuse_maintenance(): refuse a call from ANALYZE, VACUUM, REINDEX, CREATE INDEX, CLUSTER or REFRESH
-- MATERIALIZED VIEW.
--
-- Returns  true.
-- Raises   HD010 the call comes from such a command.
-- Role     internal
--
-- In these commands, PostgreSQL runs the code of a table's owner, who is not the session's role. It does not say so,
-- but it forbids some statements. UNLISTEN is the cheapest of them: it does nothing in a session that never listened.
--
-- A session that has listened cannot PREPARE TRANSACTION afterwards. Undoing that by a subtransaction would cost every
-- call 2 microseconds.
create or replace function howdah._refuse_maintenance() returns boolean
language plpgsql volatile
as $$
begin
    unlisten howdah_none;
    return true;
exception when insufficient_privilege then
    raise exception using errcode = 'HD010',
        message = format('role %s cannot use Howdah from a maintenance command', quote_ident(howdah._caller())),
        hint =
            'An index, a materialized view or a trigger calls Howdah, where nobody can tell whose rights apply. Call '
            'Howdah in a statement of your own.';
end
$$;
