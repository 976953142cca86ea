-- howdah._destination_or_new(p_name, p_verb, p_kind): as howdah._destination; a name that nothing has is created first,
-- if the engine's options say so.
--
-- Returns  the row of howdah.destinations.
-- Raises   HD001, HD010 as howdah._destination; HD002, HD004, HD010, HD027 as howdah._autocreate.
-- Role     internal
create or replace function howdah._destination_or_new(p_name text, p_verb text, p_kind text default 'queue')
returns howdah.destinations
language plpgsql volatile
as $$
begin
    perform howdah._ensure_destination(p_name, p_kind);
    return howdah._destination(p_name, p_verb);
end
$$;
