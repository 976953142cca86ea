-- howdah.keeps_results(queue): whether a queue keeps the results of its messages (option keep_results_ms).
--
-- Returns  boolean, for an alias its queue's; false if there is no such queue.
-- Role     howdah_producer howdah_consumer howdah_admin
--
-- Workers ask for this from time to time, so that a queue without the option costs them no statement a message.
create or replace function howdah.keeps_results(queue text) returns boolean
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select exists (select from howdah.destinations d
                   where d.dropped_at is null and d.keep_results_ms is not null
                     and d.name = coalesce((select a.target from howdah.aliases a where a.name = queue), queue))
$$;
