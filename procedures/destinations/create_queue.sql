-- howdah.create_queue(queue, options): create a queue.
--
-- Returns  the queue's number (integer).
-- Raises   HD002 it exists already; HD003 bad name; HD004 unknown or wrong option; HD010 not allowed; HD027 the engine
--          is full; HD045 the master of changes is away.
-- Role     howdah_admin
--
-- options is a JSON object. howdah.queue_options lists every option with its value, and docs/poison.md explains those
-- of the poison policy. {"preset": "activemq"} sets a whole policy; options beside it override it. Options that are not
-- given come from the most specific wildcard policy (howdah.set_policy), or else from the preset howdah.
create or replace function howdah.create_queue(queue text, options jsonb default '{}') returns integer
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_destination howdah.destinations;
begin
    perform howdah._check_name(queue);
    perform howdah._check_may_create('queue', queue);
    perform howdah._check_targets(options);
    perform howdah._check_creation();
    v_destination := howdah._with_options(howdah._with_options(howdah._new_destination(queue),
        howdah._policy_for(queue)), options);
    v_destination.journal_level_at := v_destination.created_at;
    v_destination.id := howdah._store_queue(v_destination);
    return v_destination.id;
end
$$;
