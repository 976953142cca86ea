-- howdah._make_rate_cells(p_destination): make the sequences that remember how far the rates of a queue are spent.
--
-- Role     internal
--
-- Existing ones stay, and so does what they remember: a new rate begins where the old one ended. Superfluous cells of
-- keys stay, too; an unused one costs a file of 8 kB.
create or replace function howdah._make_rate_cells(p_destination howdah.destinations) returns void
language plpgsql volatile
as $$
declare
    v_name text;
begin
    for v_number in 0..case when p_destination.rate_limit_per_key is not null then p_destination.rate_keys
                       when p_destination.rate_limit is not null then 0 else -1 end loop
        continue when exists (select from howdah.rate_cells c
                              where c.destination_id = p_destination.id and c.number = v_number);
        v_name := p_destination.id || '_' || v_number;
        insert into howdah.rate_cells (destination_id, number, spent, mark)
        values (p_destination.id, v_number, howdah._new_hint('rate_' || v_name),
            howdah._new_hint('rate_mark_' || v_name));
        perform setval(c.mark, 1) from howdah.rate_cells c
        where c.destination_id = p_destination.id and c.number = v_number and v_number = 0;
    end loop;
end
$$;
