-- howdah._counted_failures(p_incident_ids): those of some incidents that count as failures.
--
-- Returns  bigint[], ascending, never NULL.
-- Role     internal
create or replace function howdah._counted_failures(p_incident_ids bigint[]) returns bigint[]
language sql volatile
as $$
    select array(select p.incident_id from howdah.poison_details p
                 where p.incident_id = any (p_incident_ids) and not p.uncounted order by p.incident_id)
$$;
