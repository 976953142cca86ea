-- howdah._offset_snapshot(p_offset): the snapshot of an offset.
--
-- Returns  pg_snapshot.
-- Raises   HD005 it is no offset.
-- Role     internal
create or replace function howdah._offset_snapshot(p_offset jsonb) returns pg_snapshot
language plpgsql immutable
as $$
begin
    if jsonb_typeof(p_offset) = 'object' and p_offset ->> 'snapshot' is not null
       and p_offset ->> 'dropped' ~ '^[0-9]{1,18}$' then
        return (p_offset ->> 'snapshot')::pg_snapshot;
    end if;
    raise invalid_text_representation;
exception when invalid_text_representation then
    raise exception using errcode = 'HD005', message = format('%s is no offset of the journal',
        coalesce(quote_literal(p_offset::text), 'NULL')),
        hint = 'Offsets come from howdah.journal_offset and howdah.next_journal_offset.';
end
$$;
