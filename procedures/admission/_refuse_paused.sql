-- howdah._refuse_paused(p_destination_id): refuse to receive from a queue from which receiving is paused.
--
-- Raises   HD009 it is paused; HD016 failures in a row disabled it; HD040 the engine is paused, quiesced or stopped.
-- Role     internal
--
-- It returns if a restart of the server has just ended a stop of the engine.
create or replace function howdah._refuse_paused(p_destination_id integer) returns void
language plpgsql volatile
as $$
begin
    perform howdah._check_disabled(p_destination_id);
    perform howdah._check_engine();
    if (select d.own_receiving_paused from howdah.destinations d where d.id = p_destination_id) then
        raise exception using errcode = 'HD009',
            message = format('receiving from queue %s is paused',
                quote_literal(howdah._destination_name(p_destination_id))),
            hint = 'An administrator resumes it with howdah.resume(queue).';
    end if;
end
$$;
