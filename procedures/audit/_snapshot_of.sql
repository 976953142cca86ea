-- howdah._snapshot_of(p_text): a snapshot from its text.
--
-- Returns  pg_snapshot; NULL for NULL.
-- Raises   HD005 p_text is not a snapshot.
-- Role     internal
create or replace function howdah._snapshot_of(p_text text) returns pg_snapshot
language plpgsql immutable
as $$
begin
    return p_text::pg_snapshot;
exception when invalid_text_representation then
    raise exception using errcode = 'HD005', message = 'since is not a snapshot',
        hint = 'Give a text as pg_current_snapshot() returns it.';
end
$$;
