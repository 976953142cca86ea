-- howdah._walk(p_lane, p_walk, p_want, p_now, p_all): find and lock what a receive may take from a lane from which it
-- cannot simply take in order.
--
-- Returns  up to p_want keys in order (positions; message ids for parked messages), and whether a sticky group is new
--          to the consumer.
-- Role     internal
--
-- It works page by page. Rows are looked at without a lock first; then those that selector, consumer and groups allow
-- are locked. howdah._walk_from says where to begin.
--
-- Pages grow, so a few steps pass a long backlog of other consumers' groups. With a selector alone, the first page has
-- the wanted size, because each further message may cost a look at thousands. What other looks found ahead comes first
-- there (howdah._walk_listed).
create or replace function howdah._walk(
    p_lane howdah.lanes, p_walk howdah.walk, p_want integer, p_now timestamptz, p_all boolean
)
returns table (key bigint, first boolean)
language plpgsql volatile
as $$
declare
    v_lane howdah.lanes := howdah._walked_lane(p_lane, p_walk);
    v_tail bigint := (select howdah._hint(d.positions) from howdah.destinations d where d.id = p_lane.destination_id);
    v_begun timestamptz := clock_timestamp();
    v_from bigint := 0;
    v_after bigint;
    v_due timestamptz := '-infinity';
    v_limit integer := case when p_walk.groups = 'none' and p_walk.condition is not null then p_want
        else least(p_want + 64, 16384) end;
    v_first boolean := true;
    -- the walk has as many groups as it may; it skips messages of other groups from then on, and can no longer take
    -- these
    v_full boolean := false;
    v_page record;
    v_keys bigint[] := '{}';
    v_new bigint[] := '{}';
    v_state record;
    v_mine text[] := '{}';
    v_refused text[] := '{}';
begin
    if howdah._is_listed(v_lane, p_walk) then
        select * into v_page from howdah._walk_listed(v_lane, p_walk, p_want, v_tail, p_all);
        v_keys := v_page.keys;
        v_from := v_page.upto;
        v_first := v_page.clear;
        if cardinality(v_keys) >= p_want then
            return query select k, false from unnest(v_keys) k;
            return;
        end if;
    elsif p_lane.place = 2 then
        v_from := howdah._walk_from(v_lane, p_walk, p_all);
    end if;
    if p_lane.place = 2 and p_walk.groups = 'none' and p_walk.condition is null and p_walk.share is null then
        v_after := howdah._first_between(p_lane, v_from, 9223372036854775807);
        perform howdah._walk_note(v_lane, p_walk, v_from, v_after, v_tail, clock_timestamp() - v_begun);
        v_keys := howdah._free_between(p_lane, v_from, 9223372036854775807, p_want);
        return query select k, false from unnest(v_keys) k;
        return;
    end if;
    if p_lane.place = 2 and p_want = 1 and p_walk.groups = 'transaction' and p_walk.condition is null
       and p_walk.share is null
       and p_walk.hold and not p_all then  -- howdah.receive has tried this
        v_after := howdah._claim_one_of_group(v_lane, p_walk, v_from, random() >= 0.97);
        if v_after is not null then
            return query select v_after, false;
            return;
        end if;
    end if;
    v_after := v_from;
    loop
        v_begun := clock_timestamp();
        select array_agg(r.key) filter (where r.key <> all (v_keys)) as keys,
            array_agg(r.group_id) filter (where r.key <> all (v_keys)) as groups,
            array_agg(r.group_seq) filter (where r.key <> all (v_keys)) as seqs,
            (array_agg(r.seq))[v_limit] as seq, (array_agg(r.due_at))[v_limit] as due_at
        into v_page from howdah._walk_rows(v_lane, p_walk, v_after, null, v_due, v_limit, p_now) r;
        if v_first and p_lane.place = 2 then
            perform howdah._walk_note(v_lane, p_walk, v_from, v_page.keys[1], v_tail, clock_timestamp() - v_begun);
        end if;
        v_first := false;
        exit when v_page.keys is null and v_page.seq is null;
        if p_walk.groups = 'none' then
            v_keys := v_keys || howdah._walk_lock(p_lane, v_page.keys, p_want - cardinality(v_keys), p_now);
        else
            select * into v_state from howdah._claim_groups(p_lane, p_walk, v_page.keys, v_page.groups, v_page.seqs,
                p_want - cardinality(v_keys), p_now, not v_full, v_mine, v_refused);
            v_mine := v_state.mine;
            v_refused := v_state.refused;
            v_full := v_full or v_state.full_up;
            v_keys := v_keys || v_state.taken;
            v_new := v_new || v_state.firsts;
            -- Some groups of this page were not tried, because as many were tried as are wanted, and some of those are
            -- held up. If the walk has all its groups, and others consumed what it saw of them here, later pages may
            -- hold more of them.
            continue when not v_state.through and not v_full and cardinality(v_keys) < p_want;
        end if;
        exit when cardinality(v_keys) >= p_want or v_page.seq is null or v_full and cardinality(v_keys) > 0;
        v_after := v_page.seq;
        v_due := v_page.due_at;
        v_limit := least(4 * v_limit, 16384);
    end loop;
    -- A message was put back before those that were taken (howdah._walk_back). They stay locked, for the next call.
    if p_walk.groups <> 'none' and howdah._hint(v_lane.head) < v_from then
        return;
    end if;
    return query select k.key, k.key = any (v_new) from unnest(v_keys) with ordinality k(key, n)
        order by case when p_lane.place > 0 then k.key end, k.n;
end
$$;
