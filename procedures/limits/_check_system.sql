-- howdah._check_system(p_messages, p_bytes, p_level): refuse messages for which the engine has no room, and do what its
-- resource state asks.
--
-- Raises   HD027 the engine is full.
-- Role     internal
--
-- From yellow on, expired messages are reclaimed: when the state is reached, and once a second while nothing more goes
-- in. In orange, senders wait for each 50 messages. In red, nothing is sent. The state is that of the last count; a
-- sequence holds it beside the time of the last reclaim.
--
-- It discards stored best-effort messages, in growing steps, before it refuses messages of any other level. p_level 0
-- is best effort.
create or replace function howdah._check_system(p_messages bigint, p_bytes bigint, p_level smallint) returns void
language plpgsql volatile
as $$
declare
    v_engine howdah.engine;
    v_begun constant timestamptz := clock_timestamp();
    v_known bigint;
    v_taken record;
    v_step integer := 1;
begin
    select e.* into v_engine from howdah.engine e;
    if v_engine.max_count is null and v_engine.max_bytes is null then
        return;
    end if;
    loop
        select t.* into v_taken from howdah._reserve_after_count(0, 'howdah.system_room', 'howdah.system_tickets',
            v_engine.max_count, v_engine.max_bytes,
            array[v_engine.yellow_threshold, v_engine.orange_threshold, v_engine.red_threshold], p_messages, p_bytes,
            v_step > 1) t;
        v_known := coalesce(pg_sequence_last_value('howdah.system_state'), 0);
        v_taken.level := coalesce(v_taken.level, v_known & 3);
        if v_taken.level > v_known & 3 or v_taken.verdict = 'full'
           and howdah._pace(clock_timestamp()) - (v_known >> 2) > 1000 then
            perform setval('howdah.system_state', howdah._pace(clock_timestamp()) << 2 | v_taken.level);
            continue when howdah._reclaim_expired() > 0 and v_taken.verdict <> 'taken';
        elsif v_taken.level < v_known & 3 then
            perform setval('howdah.system_state', v_known & ~3::bigint | v_taken.level);
        end if;
        exit when v_taken.verdict = 'taken';
        if v_taken.verdict = 'full' and p_level > 0 and howdah._evict_best_effort(null,
            greatest(p_messages + v_taken.over_messages, v_engine.max_count >> 7) * v_step
                * (v_engine.max_count is not null)::integer,
            greatest(p_bytes + v_taken.over_bytes, v_engine.max_bytes >> 7) * v_step
                * (v_engine.max_bytes is not null)::integer) > 0
        then
            v_step := least(v_step * 2, 1024);
            continue;
        end if;
        if v_taken.verdict = 'full' or clock_timestamp() > v_begun + interval '1 second' then
            raise exception using errcode = 'HD027', message = 'the engine is full',
                hint = format(
                    'It takes %s messages and %s bytes at most, and sends are refused from %s %% of that on '
                    '(howdah.resource_state()); wait until some'
                    ' are consumed.', coalesce(v_engine.max_count::text, 'any number of'),
                    coalesce(v_engine.max_bytes::text, 'any number of'), v_engine.red_threshold);
        end if;
        perform pg_sleep(0.005);
    end loop;
    if v_taken.level >= 2 then
        perform pg_sleep(v_engine.orange_delay_ms / 1000.0 * ((p_messages + 49) / 50));
    end if;
end
$$;
