-- howdah._in_doubt(p_destination_id, p_seconds): attempts that may or may not be over.
--
-- Returns  the attempts of the last p_seconds seconds whose sessions live and that have no recorded failure.
-- Role     internal
create or replace function howdah._in_doubt(p_destination_id integer, p_seconds integer)
returns table (attempt_id uuid, message_id bigint, stage smallint, begun_at timestamptz, backend integer)
language sql volatile
as $$
    select a.attempt_id, a.message_id, a.stage, a.begun_at, a.backend from howdah.attempts a
    where a.destination_id = p_destination_id and a.begun_at > howdah.now() - p_seconds * interval '1 second'
      and exists (select from pg_stat_get_activity(a.backend))
      and not exists (select from howdah.poison_details p where p.failure_key = a.attempt_id)
$$;
