-- howdah._waits_until(p_destination_id, p_message_id, p_stage): when the delay of a message's last failure ends.
--
-- Returns  timestamptz; NULL if that failure asked for no delay, or an operator has had the message retried since.
-- Role     internal
--
-- A delay is recorded before the message is released, and the message is parked after that. A session that receives it
-- in between parks it. "+ 0" is as in howdah._count_failures.
create or replace function howdah._waits_until(
    p_destination_id integer, p_message_id bigint, p_stage smallint
) returns timestamptz
language plpgsql volatile
as $$
begin
    return (
        select l.due_at
        from (select p.incident_id, p.due_at from howdah.poison_details p
              where p.message_id = p_message_id and p.stage = p_stage and p.destination_id + 0 = p_destination_id
              order by p.incident_id + 0 desc limit 1) l
        where l.due_at is not null and not exists (
            select from howdah.operator_acts a
            where a.destination_id = p_destination_id and a.act = 'retried' and a.incident_id >= l.incident_id
              and p_message_id = any (a.message_ids)));
end
$$;
