-- howdah.read_changes(instance_id, max_changes): the changes that an instance has not read, in the order of commits.
--
-- Returns  at most max_changes rows. They count as read once the caller commits.
-- Raises   HD005 max_changes is not 1 to 10000; HD010 another role registered it; HD015 it is not registered, or no
--          longer.
-- Role     howdah_consumer howdah_admin
--
-- It leaves out what the instance's role may not see, as howdah.config_changes does.
create or replace function howdah.read_changes(instance_id uuid, max_changes integer default 1000) returns table (
    change_id bigint, at timestamptz, actor text, kind text, name text, act text, before jsonb, after jsonb
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_instance howdah.instances := howdah._instance(instance_id);
    v_position howdah.instance_positions;
    v_ids bigint[];
    v_last record;
begin
    if (max_changes between 1 and 10000) is not true then
        raise exception using errcode = 'HD005',
            message = format('max_changes must be 1 to 10000, not %s', coalesce(max_changes::text, 'NULL'));
    end if;
    select p.* into v_position from howdah.instance_positions p where p.name = v_instance.name;
    if not exists (select from howdah._changes_since(v_position.read, coalesce(v_position.upto, v_position.read),
        coalesce(case when v_position.upto is not null then v_position.last_change end, 0), 1)) then
        return;  -- without a lock: instances ask several times a second
    end if;
    select p.* into v_position from howdah.instance_positions p where p.name = v_instance.name for update;
    for v_last in
        select s.change_id, s.in_read, s.in_upto
        from howdah._changes_since(v_position.read, coalesce(v_position.upto, v_position.read),
            coalesce(case when v_position.upto is not null then v_position.last_change end, 0), max_changes) s
    loop
        v_ids := v_ids || v_last.change_id;
    end loop;
    if v_ids is null then
        return;
    elsif cardinality(v_ids) < max_changes then
        update howdah.instance_positions p
        set read = v_last.in_upto, upto = null, last_change = v_last.change_id, read_at = howdah.now()
        where p.name = v_instance.name;
    else
        update howdah.instance_positions p
        set read = v_last.in_read, upto = v_last.in_upto, last_change = v_last.change_id, read_at = howdah.now()
        where p.name = v_instance.name;
    end if;
    return query
    select c.change_id, c.at, c.actor, c.kind, c.name, c.act, c.before, c.after
    from unnest(v_ids) with ordinality i(id, n) join howdah.config_changes c on c.change_id = i.id
    where howdah._may_see_change(c.kind, c.name, coalesce(c.after, c.before))
    order by i.n;
end
$$;
