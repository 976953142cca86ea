-- howdah._make_spares(p_count, p_most): make spare numbers with their sequences, while destinations create themselves.
--
-- Role     internal
--
-- An UNLOGGED sequence costs its maker a look at all of PostgreSQL's buffers. A first use that finds a spare number
-- avoids that. p_count: how many are to be spare; p_most: how many one call makes.
create or replace function howdah._make_spares(p_count integer, p_most integer) returns void
language plpgsql volatile
as $$
declare
    v_options jsonb := (select howdah._auto_options('queue', e.autocreate_options) from howdah.engine e
        where e.autocreate_queue or e.autocreate_topic);
    v_id integer;
begin
    if v_options is null
       or pg_sequence_last_value(pg_get_serial_sequence('howdah.destinations', 'id')) >= 900000 then
        return;
    end if;
    for v_try in 1..least(p_most, p_count - (select count(*) from howdah.spare_numbers)) loop
        v_id := howdah._new_number();
        perform howdah._new_positions(v_id);
        perform howdah._new_hint(h.name || v_id) from unnest(array['head_of_', 'search_of_', 'waiting_']) h(name);
        perform howdah._new_hint(h.name || v_id, false) from unnest(array['room_', 'tickets_']) h(name)
        where v_options ?| array['message_limit', 'byte_limit'];
        insert into howdah.spare_numbers (id) values (v_id);
    end loop;
end
$$;
