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
    select s.change_id, s.act_id, s.at, s.actor, s.kind, s.name, s.act, s.before,
        case when s.kind <> 'messages' or not s.after ? 'to' or howdah._sees_all() or exists (
                select from howdah.destinations d
                where d.name = s.after ->> 'to' and d.dropped_at is null and howdah._sees(d.id))
            then s.after else s.after - 'to' end, s.reason, s.undoes
    from (
        select r.*, coalesce(r.change_id, 0) as change_number, coalesce(r.act_id, 0) as act_number
        from (
            select c.change_id, null::bigint as act_id, c.at, c.actor, c.kind, c.name, c.act, c.before, c.after,
                c.reason, c.undoes
            from howdah.config_changes c
            where only_change is null or c.change_id = only_change
            union all
            select null, a.act_id, a.at, a.actor, case when d.id is null then 'engine' else 'messages' end,
                coalesce(d.name, e.name), a.act, null, case when d.id is not null then jsonb_strip_nulls(
                    jsonb_build_object('queue', d.name, 'messages', cardinality(a.message_ids), 'to', o.name)) end,
                a.reason, null
            from howdah.operator_acts a cross join howdah.engine e
            left join howdah.destinations d on d.id = a.destination_id
            left join howdah.destinations o on o.id = a.other_destination_id
            where only_change is null
        ) r
        where (of_kind is null or r.kind = of_kind) and (of_name is null or r.name = of_name)
          and (before_at is null or (r.at, coalesce(r.change_id, 0), coalesce(r.act_id, 0))
              < (before_at, coalesce(before_change, 0), coalesce(before_act, 0)))
        order by r.at desc, change_number desc, act_number desc
        offset 0  -- the right is asked for in this order, until there are enough
    ) s
    where howdah._may_see_change(case s.kind when 'messages' then 'queue' else s.kind end, s.name,
        coalesce(s.after, s.before))
    order by s.at desc, s.change_number desc, s.act_number desc
    limit max_changes;
end
$$;
