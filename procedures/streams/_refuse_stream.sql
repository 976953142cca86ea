-- howdah._refuse_stream(p_name): say why nobody receives from a subscription now, or why the caller may not.
--
-- Raises   HD001, HD010 as howdah._destination; HD005 it is a topic; HD009 it is paused; HD016 failures in a row
--          disabled it; HD040 the engine is paused, quiesced or stopped; 40001 it may be received from again.
-- Role     internal
create or replace function howdah._refuse_stream(p_name text) returns void
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations := howdah._destination(p_name, 'receive');
begin
    if v_destination.kind = 'topic' then
        raise exception using errcode = 'HD005', message = format('%s is a topic', quote_literal(p_name)),
            hint = 'Subscribe to it with howdah.subscribe(topic, name) and receive from the name that returns.';
    elsif v_destination.receiving_paused then
        perform howdah._check_disabled(v_destination.id);
        perform howdah._check_engine();
        if v_destination.own_receiving_paused then
            raise exception using errcode = 'HD009',
                message = format('subscription %s is paused', quote_literal(p_name)),
                hint = 'An administrator resumes it with howdah.resume(subscription).';
        end if;
    end if;
    raise exception using errcode = '40001', message = format('%s was changed meanwhile', quote_literal(p_name)),
        hint = 'Retry the transaction.';
end
$$;
