-- howdah._standing(p_destination_id, p_message_id, p_stage): what the incidents recorded for a message amount to.
--
-- Returns  one row: the number of failures; the number that the limit is compared with, which is above any limit if the message was
--          rejected; the delay asked for by the last incident (NULL: the queue's).
-- Role     internal
create or replace function howdah._standing(p_destination_id integer, p_message_id bigint, p_stage smallint)
returns table (failures integer, weight integer, delay_ms bigint)
language sql stable
as $$
    select count(*)::integer, case when bool_or(p.rejected) then 2147483647 else count(*)::integer end,
        (array_agg(p.delay_ms order by p.incident_id desc))[1]
    from howdah.poison_details p
    where p.destination_id = p_destination_id and p.message_id = p_message_id and p.stage = p_stage
$$;

-- howdah._why(p_weight): the reason of death of a message whose incidents amount to so much.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._why(p_weight integer) returns text
language sql immutable
as $$ select case when p_weight = 2147483647 then 'rejected by its handler' else 'failed deliveries reached the limit' end $$;
