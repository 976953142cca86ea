-- howdah._kept_rows(p_destination_id, p_max, p_message_ids, p_from, p_before, p_after_at, p_after_id, p_newest): kept
-- messages of a queue whose time has not come, by time and id.
--
-- Returns  setof howdah.kept_messages, the oldest first; with p_newest, the newest.
-- Role     internal
--
-- They were consumed at p_from or later and before p_before. In this order, they lie behind the message with p_after_at
-- and p_after_id. A condition that is NULL holds for all.
create or replace function howdah._kept_rows(
    p_destination_id integer, p_max bigint, p_message_ids bigint[] default null, p_from timestamptz default null,
    p_before timestamptz default null, p_after_at timestamptz default null, p_after_id bigint default null,
    p_newest boolean default false
) returns setof howdah.kept_messages
language plpgsql volatile
    set plan_cache_mode = force_custom_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
    if p_newest then
        return query
        select k.* from howdah.kept_messages k
        where k.destination_id = p_destination_id and k.kept_until > howdah.now()
          and (p_message_ids is null or k.message_id = any (p_message_ids))
          and (p_from is null or k.kept_at >= p_from) and (p_before is null or k.kept_at < p_before)
          and (p_after_at is null or (k.kept_at, k.message_id) < (p_after_at, coalesce(p_after_id, -1)))
        order by k.kept_at desc, k.message_id desc limit p_max;
    else
        return query
        select k.* from howdah.kept_messages k
        where k.destination_id = p_destination_id and k.kept_until > howdah.now()
          and (p_message_ids is null or k.message_id = any (p_message_ids))
          and (p_from is null or k.kept_at >= p_from) and (p_before is null or k.kept_at < p_before)
          and (p_after_at is null
               or (k.kept_at, k.message_id) > (p_after_at, coalesce(p_after_id, 9223372036854775807)))
        order by k.kept_at, k.message_id limit p_max;
    end if;
end
$$;
