-- howdah.list_changes(of_kind, of_name, max_changes, before_at, only_change, before_change, before_act): list what
-- administrators changed, and what operators did with messages and the engine, newest first.
--
-- Returns  rows of the record of changes (change_id) and of operators' acts (act_id). For an act, kind is messages or
--          engine, and after has the number of messages and where they went.
-- Raises   HD005 max_changes is not 1 to 10000; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_auditor howdah_consumer
--
-- This, howdah.config_changes and howdah.list_acts are three readings of one record. For the next page, pass the last
-- row's at, change_id and act_id as before_at, before_change and before_act: rows of one transaction have one time. Who
-- does not administer reads only what concerns destinations that the caller may browse or receive from.
create or replace function howdah.list_changes(
    of_kind text default null, of_name text default null, max_changes integer default 100,
    before_at timestamptz default null, only_change bigint default null, before_change bigint default null,
    before_act bigint default null
) returns table (
    change_id bigint, act_id bigint, at timestamptz, actor text, kind text, name text, act text, before jsonb,
    after jsonb, reason text, undoes bigint
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
begin
    if (max_changes between 1 and 10000) is not true then
        raise exception using errcode = 'HD005',
            message = format('max_changes must be 1 to 10000, not %s', coalesce(max_changes::text, 'NULL'));
    end if;
    return query
    select s.change_id, s.act_id, s.at, r.actor, s.kind, s.name, r.act, r.before, r.after, r.reason, r.undoes
    from (
        -- Only what the order and the filters need: a row of the record may have a hundred options.
        select k.*, coalesce(k.change_id, 0) as change_number, coalesce(k.act_id, 0) as act_number
        from (
            select c.change_id, null::bigint as act_id, c.at, c.kind, c.name from howdah.config_changes c
            where only_change is null or c.change_id = only_change
            union all
            select null, a.act_id, a.at, case when d.id is null then 'engine' else 'messages' end,
                coalesce(d.name, e.name)
            from howdah.operator_acts a cross join howdah.engine e
            left join howdah.destinations d on d.id = a.destination_id
            where only_change is null  -- some acts are changes, and are there already
              and (a.destination_id is null or a.act not in ('paused', 'resumed', 'cancelled'))
        ) k
        where (of_kind is null or k.kind = of_kind) and (of_name is null or k.name = of_name)
          and (before_at is null or (k.at, coalesce(k.change_id, 0), coalesce(k.act_id, 0))
              < (before_at, coalesce(before_change, 0), coalesce(before_act, 0)))
        order by k.at desc, change_number desc, act_number desc
        offset 0  -- the right is asked for in this order, until there are enough
    ) s
    cross join lateral (
        select c.actor, c.act, c.before, c.after, c.reason, c.undoes from howdah.config_changes c
        where c.change_id = s.change_id
        union all
        select a.actor, a.act, null, case when s.kind = 'messages' then jsonb_strip_nulls(jsonb_build_object(
            'queue', s.name, 'messages', cardinality(a.message_ids), 'to', (
                select o.name from howdah.destinations o where o.id = a.other_destination_id
                  and (howdah._sees_all() or o.dropped_at is null and howdah._sees(o.id))))) end, a.reason, null
        from howdah.operator_acts a where a.act_id = s.act_id
    ) r
    where howdah._may_see_change(case s.kind when 'messages' then 'queue' else s.kind end, s.name,
        coalesce(r.after, r.before))
    order by s.at desc, s.change_number desc, s.act_number desc
    limit max_changes;
end
$$;
