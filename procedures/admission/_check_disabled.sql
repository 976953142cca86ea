-- howdah._check_disabled(p_destination_id): refuse to receive from a queue that failures in a row disabled.
--
-- Raises   HD016 it is disabled.
-- Role     internal
create or replace function howdah._check_disabled(p_destination_id integer) returns void
language plpgsql stable
as $$
declare
    v_queue record;
begin
    select d.name, d.disable_after, d.disabled_at into v_queue from howdah.destinations d where d.id = p_destination_id;
    if v_queue.disabled_at is not null then
        raise exception using errcode = 'HD016',
            message = format('queue %s was disabled by %s failures in a row', quote_literal(v_queue.name),
                v_queue.disable_after),
            hint = 'See howdah.incidents(queue). An administrator enables it with howdah.resume(queue).';
    end if;
end
$$;
