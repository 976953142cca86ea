-- howdah.link_take(name, holder, target_engine, max_messages): become the forwarder of a link, and take its next batch
-- in the transaction whose commit consumes it.
--
-- Returns  one row. state: batch; empty; paused; standby, if another forwarder has the link; or ready, if no target is
--          given. With a batch: what howdah.link_arrive needs at the target, and messages, a JSON array.
-- Raises   HD005 wrong argument; HD010 not allowed; HD025 this database or the target is a copy; HD041 there is no such
--          link; HD001, HD003, HD009, HD016, HD019, HD023, HD024, HD032, HD040 as howdah.receive for the link's source;
--          HD002, HD004, HD027 the missing queue cannot create itself (docs/auto-creation.md); HD013 a message that it
--          was to drop is gone; HD045 the master of changes is away; HD049 the transformation cannot be called
--          (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- Commit only after howdah.link_arrive has committed at the target. After a rollback the messages come again, and the
-- target skips those that it has.
--
-- target_engine is the engine_id that howdah.link_engine() returned there. Messages that have passed it are not taken.
-- Those of a subscription are consumed without being sent.
create or replace function howdah.link_take(
    name text, holder text, target_engine uuid default null, max_messages integer default null
) returns table (
    state text, link_id uuid, engine_id uuid, engine_name text, source text, target_queue text, batch bigint,
    attempt uuid, acknowledged uuid, taken integer, messages json, service text, dsn_env text, retry_ms_max integer,
    started timestamptz
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_link howdah.links := howdah._link(link_take.name, 'receive');
    v_kind text;
    v_dropped integer;
    v_found howdah.message[];
    v_want integer := least(v_link.batch_size, max_messages);
begin
    if max_messages < 1 then
        raise exception using errcode = 'HD005', message = 'max_messages must be positive';
    end if;
    service := v_link.service;
    dsn_env := v_link.dsn_env;
    retry_ms_max := v_link.retry_ms_max;
    state := case when v_link.paused then 'paused'
        when not howdah._keep_link(v_link.name, holder) then 'standby'
        when target_engine is null then 'ready' end;
    if state is not null then
        return next;
        return;
    end if;
    -- The batch before this one may have been committed between the first look and the lock.
    v_link := howdah._link(link_take.name, 'receive');
    engine_id := howdah._engine_id();
    if target_engine = engine_id then
        raise exception using errcode = 'HD025',
            message = format('link %s leads back to this database, or to a copy of its cluster',
                quote_literal(v_link.name)),
            hint = 'In a copy of the cluster, call howdah.new_engine_id() once.';
    elsif v_link.engine_id <> engine_id then
        raise exception using errcode = 'HD025',
            message = format('link %s belongs to another database, of which this one is a copy',
                quote_literal(v_link.name)),
            hint = 'Drop the link, or let it begin anew with howdah.rebase_link(name).';
    elsif v_link.target_engine_id <> target_engine then
        raise exception using errcode = 'HD025',
            message = format('link %s leads to another engine than before, or to one that was restored elsewhere',
                quote_literal(v_link.name)),
            hint = 'If that is meant, let it begin anew with howdah.rebase_link(name).';
    end if;
    select d.name, d.kind into source, v_kind from howdah.destinations d where d.id = v_link.source_id;
    if v_link.away_since is not null and v_kind <> 'queue' then
        perform howdah._link_drop_read(v_link, target_engine, v_want);
    end if;
    begin
        v_found := howdah._link_batch(source, v_want, case when v_link.loops
            then howdah._cut_loops(v_link.selector, target_engine) else v_link.selector end, v_link.transformation);
        if v_kind = 'queue' and exists (select from unnest(v_found) m
                where strpos(m.headers ->> 'JMS_Howdah_Route', target_engine::text) > 0) then
            raise exception using errcode = 'LOOPS', message = 'the queue holds messages that came from the target';
        end if;
    exception when sqlstate 'LOOPS' then
        v_link.loops := true;
        v_found := howdah._link_batch(source, v_want, howdah._cut_loops(v_link.selector, target_engine),
            v_link.transformation);
    end;
    taken := cardinality(v_found);
    if v_link.away_since is not null then
        perform howdah._log_event('LINK_BACK', source, jsonb_build_object('link', v_link.name));
    end if;
    if taken = 0 then
        update howdah.links l set away_since = null where l.link_id = v_link.link_id and l.away_since is not null;
        state := 'empty';
        return next;
        return;
    end if;
    select e.name into engine_name from howdah.engine e;
    select j.messages, j.taken, j.dropped into messages, taken, v_dropped
    from howdah._link_json(v_found, source, engine_id, engine_name, target_engine,
        case when v_link.away_since is not null then v_link.error_at end) j;
    update howdah.links l
    set batch = l.batch + 1, attempt = gen_random_uuid(), forwarded = l.forwarded + taken,
        cut = l.cut + cardinality(v_found) - taken - v_dropped, dropped = l.dropped + v_dropped,
        forwarded_at = howdah.now(), away_since = null,
        target_engine_id = target_engine, loops = v_link.loops
    where l.link_id = v_link.link_id
    returning l.batch, l.attempt into link_take.batch, link_take.attempt;
    state := 'batch';
    link_id := v_link.link_id;
    started := pg_postmaster_start_time();
    target_queue := v_link.target_queue;
    acknowledged := v_link.attempt;
    perform howdah._commit_surely();
    -- A forwarder that hangs, or that lost the network, keeps nobody from the link for longer.
    perform set_config('idle_in_transaction_session_timeout', '60s', true);
    return next;
end
$$;
