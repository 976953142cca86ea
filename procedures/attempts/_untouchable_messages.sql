-- howdah._untouchable_messages(p_destination): messages at which no attempt can begin now, because of attempts in
-- doubt.
--
-- Returns  bigint[]: messages with an attempt that began within a second, and messages that attempts in doubt would
--          bring to their limit.
-- Role     internal
create or replace function howdah._untouchable_messages(p_destination howdah.destinations) returns bigint[]
language sql volatile
as $$
    with doubtful as materialized (
        select d.message_id, d.stage, max(d.begun_at) > howdah.now() - interval '1 second' as fresh
        from howdah._in_doubt(p_destination.id, 10) d
        group by d.message_id, d.stage
    ), counted as (
        select c.message_id
        from (select array_agg(d.message_id) as ids, array_agg(d.stage) as stages
              from doubtful d where not d.fresh having count(*) > 0) n
        cross join lateral howdah._count_failures(p_destination.id, n.ids, n.stages, '{}', '{}') c
        where c.weight >= p_destination.dispose_at
    )
    select array(select d.message_id from doubtful d where d.fresh union select c.message_id from counted c)
$$;
