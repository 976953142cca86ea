-- howdah._unused_destinations(p_ids): the destinations among some that created themselves, hold and keep nothing, and
-- that nobody uses or names.
--
-- Returns  their numbers (integer[]).
-- Role     internal
--
-- A transaction that has sent there, or looks there, holds a lock on the destination's positions until its end. So a
-- message that is not committed is seen, though no row of it is.
create or replace function howdah._unused_destinations(p_ids integer[]) returns integer[]
language sql volatile
as $$
    with held as materialized (
        select l.relation from pg_locks l
        where l.locktype = 'relation' and l.pid is distinct from pg_backend_pid()
          and l.database = (select b.oid from pg_database b where b.datname = current_database())
    )
    select coalesce(array_agg(d.id order by d.id), '{}')
    from howdah.destinations d
    where d.id = any (p_ids) and d.auto_created and d.dropped_at is null
      and not d.own_sending_paused and not d.own_receiving_paused
      and d.positions::oid not in (select h.relation from held h)
      and not howdah._holds_messages(d.id)
      and (d.keep_bodies_ms is null or not exists (select from howdah.kept_messages k
          where k.destination_id = d.id and k.kept_until > howdah.now()))
      and not exists (select from howdah.consumers c where c.destination_id = d.id)
      and not exists (select from howdah.listeners l where l.destination_id = d.id)
      and not exists (select from howdah.links l where l.source_id = d.id)
      and not exists (select from howdah.bridges b where d.id in (b.queue_id, b.topic_id))
      and not exists (select from howdah.acks a where a.destination_id = d.id)
      and not exists (select from howdah.schedules s where s.destination_id = d.id)
      and not exists (select from howdah.aliases a where a.target = d.name)
      and not exists (select from howdah.workers w where d.name = any (w.queues))
      and d.name not in (
          select n.name
          from howdah.destinations o cross join lateral (values (o.exception_queue), (o.log_queue)) n(name)
          where o.dropped_at is null and n.name is not null)
$$;
