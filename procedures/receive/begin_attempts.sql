-- howdah.begin_attempts(queue, max_messages, attempt_id): record attempts at delivery before their messages are
-- received.
--
-- Returns  attempt id, message_id, priority and position of up to max_messages messages; no row if none can be given.
-- Raises   HD001 no such queue; HD005 max_messages is not 1 to 10000, or attempt_id was used before or comes with
--          several messages; HD005 the queue limits handlers (docs/handler-limits.md), or the transaction is not READ
--          COMMITTED; HD009 receiving is paused; HD010 not allowed; HD016 failures in a row disabled the queue; HD003,
--          HD019, HD023, HD024, HD025, HD032 as howdah.receive; HD040 the engine is paused, quiesced or stopped; HD002,
--          HD004, HD027 the missing queue cannot create itself (docs/auto-creation.md); HD045 the master of changes is
--          away; HD049 the transformation cannot be called (docs/transformations.md).
-- Role     howdah_consumer howdah_admin
--
-- This is for hardened queues (IBM MQ's HardenGetBackout). COMMIT this call, then take each message with
-- howdah.receive_attempt. An attempt counts as a failure unless its message is consumed, whatever process died. A
-- message at its limit is disposed of here.
--
-- For one second nobody else begins an attempt at the same messages while the session lives. For ten seconds it is in
-- doubt whether such an attempt is over or only slow. A message whose limit depends on an attempt in doubt is left
-- alone.
--
-- The caller may choose attempt_id. howdah.record_failure with it as failure_key then reports the same failure. A queue
-- of strict order has one attempt at a time; a queue with message groups has one per group.
create or replace function howdah.begin_attempts(
    queue text, max_messages integer default 1, attempt_id uuid default null
)
returns table (attempt uuid, message_id bigint, priority integer, "position" bigint)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
#variable_conflict use_column
declare
    v_destination howdah.destinations := howdah._destination_or_new(queue, 'receive');
    v_left bigint[] := '{}';
    v_passed bigint[];
    v_met howdah.message[];
begin
    if max_messages is null or max_messages not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_messages must be 1 to 10000, not %s', coalesce(max_messages::text, 'NULL'));
    end if;
    if attempt_id is not null and max_messages <> 1 then
        raise exception using errcode = 'HD005', message = 'attempt_id can be given for one message only';
    elsif exists (select from howdah.attempts a where a.attempt_id = begin_attempts.attempt_id) then
        raise exception using errcode = 'HD005', message = format('attempt %s was begun before',
            begin_attempts.attempt_id),
            hint = 'Choose a new number for each attempt, or leave it out.';
    end if;
    if v_destination.limited then
        raise exception using errcode = 'HD005',
            message = format('attempts cannot begin at queue %s: it has a limit of concurrency or a rate',
                quote_literal(v_destination.name)),
            hint = 'A permit ends with the transaction that took it. Receive or lease the messages.';
    end if;
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'howdah.begin_attempts needs READ COMMITTED',
            hint =
                'With an older snapshot it would not see the attempts that others have begun. Call it in a '
                'transaction of its own: begin isolation level read committed.';
    end if;
    perform howdah._commit_needs(4);
    perform nextval(v_destination.failing);
    loop
        v_passed := v_left || howdah._untouchable_messages(v_destination);
        exit when v_destination.strict_order and cardinality(v_passed) > 0;
        perform set_config('howdah.attempting', (select e.attempting_secret::text from howdah.engine e), true);
        v_met := array(
            select r from howdah.receive(queue, least(max_messages + cardinality(v_passed), 10000), true) r
            where r.message_id <> all (v_passed));
        perform set_config('howdah.attempting', '', true);
        v_left := v_left || howdah._record_silent_attempts(v_destination, v_met);
        -- This statement has a snapshot of its own, and sees the attempts that others committed before these messages
        -- were locked. It counts every attempt, also those in doubt, which receive does not. So there are never more
        -- attempts than the limit.
        return query
        with begun as (
            insert into howdah.attempts as a (attempt_id, message_id, begun_at, destination_id, backend, rank, stage,
                seq, conversation_id)
            select coalesce(begin_attempts.attempt_id, gen_random_uuid()), f.message_id, howdah.now(), v_destination.id,
            pg_backend_pid(),
                9 - f.priority, f.stage, f."position", f.conversation_id
            from unnest(v_met) with ordinality f
            left join (
                select c.*
                from (select array_agg(m.message_id) as ids, array_agg(m.stage::smallint) as stages
                      from unnest(v_met) m
                      having exists (select from howdah.attempts b
                          where b.message_id in (select e.message_id from unnest(v_met) e))) n
                cross join lateral howdah._count_failures(v_destination.id, n.ids, n.stages, '{}', '{}') c
            ) c on c.message_id = f.message_id and c.stage = f.stage
            where (c.weight >= v_destination.dispose_at) is not true and f.message_id <> all (v_left)
              and f.message_id not in (select r.message_id from howdah._in_doubt(v_destination.id, 1) r)
            order by f.ordinality limit max_messages
            returning a.*
        ), untaken as (
            insert into howdah.untaken_attempts as u (attempt_id, message_id) select b.attempt_id, b.message_id
            from begun b
            -- The caller has chosen an id again whose first attempt was void or cancelled.
            on conflict on constraint pk_untaken_attempts do update set begun_in = excluded.begun_in,
            boot = excluded.boot
        )
        select b.attempt_id, b.message_id, 9 - b.rank, b.seq from begun b;
        exit when found or cardinality(v_met) = 0;
        v_left := v_left || array(select m.message_id from unnest(v_met) m);
    end loop;
end
$$;
