-- howdah._own_groups(p_destination_id, p_consumer, p_keys, p_groups, p_seqs, p_taken, p_new): record which sticky
-- groups a consumer owns now.
--
-- Returns  the keys that begin a group new to it; also a key behind a message that closed the group.
-- Role     internal
--
-- These are ActiveMQ's rules: JMSXGroupSeq 1 gives the group to whoever gets it. A negative number ends the ownership
-- behind it.
create or replace function howdah._own_groups(
    p_destination_id integer, p_consumer integer, p_keys bigint[], p_groups text[], p_seqs integer[], p_taken bigint[],
    p_new text[]
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_firsts bigint[];
    v_owned text[];
begin
    select array_agg(f.key order by f.n), array_agg(f.group_id) filter (where f.former is null) into v_firsts, v_owned
    from (select k.key, k.group_id, k.n, lag(k.n) over w as former, lag(k.seq) over w as former_seq
          from unnest(p_keys, p_groups, p_seqs) with ordinality k(key, group_id, seq, n)
          where k.key = any (p_taken) and k.group_id is not null
          window w as (partition by k.group_id order by k.n)) f
    where f.former is null and f.group_id = any (p_new) or f.former_seq = -1;
    insert into howdah.group_owners as o (destination_id, group_id, consumer_id, owned_since)
    select p_destination_id, g, p_consumer, howdah.now() from unnest(v_owned) g
    on conflict (destination_id, group_id) do update set consumer_id = excluded.consumer_id,
        owned_since = excluded.owned_since;
    delete from howdah.group_owners o
    using (select distinct on (k.group_id) k.group_id, k.seq
           from unnest(p_keys, p_groups, p_seqs) with ordinality k(key, group_id, seq, n)
           where k.key = any (p_taken) and k.group_id is not null order by k.group_id, k.n desc) l
    where o.destination_id = p_destination_id and o.group_id = l.group_id and l.seq = -1;
    return coalesce(v_firsts, '{}');
end
$$;
