-- howdah._destination_or_new(p_name, p_verb): as howdah._destination; a name that nothing has is created first,
-- if the engine's options say so.
--
-- Returns  the row of howdah.destinations.
-- Raises   HD001, HD010 as howdah._destination; HD002, HD004, HD010, HD027 as howdah._autocreate.
-- Role     internal
create or replace function howdah._destination_or_new(p_name text, p_verb text) returns howdah.destinations
language plpgsql volatile
as $$
begin
    perform howdah._ensure_destination(p_name, case when p_verb <> 'send' then 'queue' end);
    return howdah._destination(p_name, p_verb);
end
$$;
