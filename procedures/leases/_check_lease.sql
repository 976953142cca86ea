-- howdah._check_lease(p_destination, p_lease, p_message_ids, p_done): refuse a call for messages that a lease no longer
-- has.
--
-- Returns  p_done.
-- Raises   HD026 fewer messages were done than asked for, or the lease has none at all.
-- Role     internal
create or replace function howdah._check_lease(
    p_destination howdah.destinations, p_lease bigint, p_message_ids bigint[], p_done bigint
)
returns bigint
language plpgsql volatile
as $$
begin
    if p_lease is null or p_done < (select count(distinct i.id) from unnest(p_message_ids) i(id))
       or p_message_ids is null and p_done = 0
       or exists (select from unnest(p_message_ids) i(id) where i.id is null) then
        raise exception using errcode = 'HD026',
            message = format('lease %s does not have all of these messages of %s', coalesce(p_lease::text, 'NULL'),
                quote_literal(p_destination.name)),
            hint =
                'It ran out and others have received them, or they were acknowledged or given back before. Whoever '
                'has them now decides.';
    end if;
    return p_done;
end
$$;
