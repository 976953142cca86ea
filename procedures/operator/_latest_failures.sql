-- howdah._latest_failures(p_destination_id, p_most): the latest failures of one queue, or of all.
--
-- Returns  up to p_most, found by an index from the end.
-- Role     internal
--
-- One index has the pair of a queue's number and an incident's. By the queue's number alone, PostgreSQL may read the
-- failures of all queues from the end, until it has enough of this one.
create or replace function howdah._latest_failures(p_destination_id integer, p_most integer)
returns table (
    incident_id bigint, message_id bigint, destination_id integer, fingerprint text, recorded_at timestamptz
)
language sql stable
as $$
    select f.incident_id, f.message_id, f.destination_id, f.fingerprint, f.recorded_at
    from (
        (select p.incident_id, p.message_id, p.destination_id, p.fingerprint, p.recorded_at
         from howdah.poison_details p where p_destination_id is null
         order by p.incident_id desc limit p_most)
        union all
        (select p.incident_id, p.message_id, p.destination_id, p.fingerprint, p.recorded_at
         from howdah.poison_details p
         where p_destination_id is not null and (p.destination_id, p.incident_id) >= (p_destination_id, 0)
           and (p.destination_id, p.incident_id) <= (p_destination_id, 9223372036854775807)
         order by p.destination_id desc, p.incident_id desc limit p_most)
    ) f
$$;
