-- howdah._new_positions(p_id): create the sequence of a new destination's positions.
--
-- Returns  regclass.
-- Role     internal
create or replace function howdah._new_positions(p_id integer) returns regclass
language plpgsql volatile set default_tablespace = ''
as $$
begin
    execute format('create sequence howdah.%I', 'positions_' || p_id);
    return format('howdah.%I', 'positions_' || p_id)::regclass;
end
$$;
