-- howdah._is_awaited(p_reply_to): whether anybody may still read an answer sent to a request's reply_to.
--
-- Returns  boolean.
-- Role     internal
create or replace function howdah._is_awaited(p_reply_to text) returns boolean
language sql volatile
as $$
    select p_reply_to <> '' and (not p_reply_to ^@ '_TEMP.' or exists (
        select from howdah.destinations d join howdah.temporary_queues t on t.destination_id = d.id
        where d.name = p_reply_to and d.dropped_at is null and t.boot = pg_postmaster_start_time()
          and (t.connection = current_setting('howdah.connection', true) or howdah._connection_lives(t))
          and howdah._hold_temporary(d)))
$$;
