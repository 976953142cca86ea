-- howdah._check_apart(p_source, p_target): raise an error if messages would be moved to the queue that they are in.
--
-- Returns  nothing.
-- Raises   HD005 they are the same queue.
-- Role     internal
create or replace function howdah._check_apart(p_source howdah.destinations, p_target howdah.destinations) returns void
language plpgsql stable
as $$
begin
    if p_source.id = p_target.id then
        raise exception using errcode = 'HD005', message = format('the messages are in queue %s already',
            quote_literal(p_source.name)),
            hint = 'Name another target.';
    end if;
end
$$;
