-- howdah.list_acts(queue, message_id, max_acts, before_act): list what operators did with messages, queues, schedules,
-- links, subscriptions, consumers and the engine, and who they were, newest first.
--
-- Returns  rows of operator_acts with the names of the queues; with message_id, only acts on that message.
-- Raises   HD001 no such queue; HD005 max_acts is not 1 to 10000; HD010 not allowed.
-- Role     howdah_admin howdah_auditor
--
-- queue is where the messages lay; NULL means every queue that the caller may browse, and the engine as a whole. What
-- was done to that has neither a queue nor messages. What was done to a schedule, link or consumer has the queue, and
-- its reason begins with the name. For the next page, pass the last act_id as before_act.
create or replace function howdah.list_acts(
    queue text default null, message_id bigint default null, max_acts integer default 100,
    before_act bigint default null
) returns table (
    act_id bigint, at timestamptz, actor text, act text, queue_name text, other_queue text, reason text,
    message_ids bigint[]
)
language plpgsql stable security definer set search_path = pg_catalog, howdah,
    pg_temp set plan_cache_mode = force_custom_plan
as $$
declare
    v_id integer;
begin
    if max_acts is null or max_acts not between 1 and 10000 then
        raise exception using errcode = 'HD005',
            message = format('max_acts must be 1 to 10000, not %s', coalesce(max_acts::text, 'NULL'));
    end if;
    if queue is not null then
        v_id := (howdah._destination(queue, 'browse')).id;
    end if;
    return query
    select a.act_id, a.at, a.actor, a.act, d.name, o.name, a.reason, a.message_ids
    from howdah.operator_acts a
    left join howdah.destinations d on d.id = a.destination_id
    left join howdah.destinations o on o.id = a.other_destination_id
    where (v_id is null or a.destination_id = v_id)
      and (list_acts.message_id is null or list_acts.message_id = any (a.message_ids))
      and (before_act is null or a.act_id < before_act)
      and (a.destination_id is null or howdah._has_right(d.id, 'browse'))
    order by a.act_id desc
    limit max_acts;
end
$$;
