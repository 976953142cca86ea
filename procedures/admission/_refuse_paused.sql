-- howdah._refuse_paused(p_destination_id): refuse to receive from a queue from which receiving is paused.
--
-- Raises   HD009 it is paused; HD016 failures in a row disabled it.
-- Role     internal
create or replace function howdah._refuse_paused(p_destination_id integer) returns void
language plpgsql stable
as $$
begin
    perform howdah._check_disabled(p_destination_id);
    raise exception using errcode = 'HD009',
        message = format('receiving from queue %s is paused',
            quote_literal(howdah._destination_name(p_destination_id))),
        hint = 'An administrator resumes it with howdah.resume(queue).';
end
$$;
