-- howdah._forget_values(): forget the keys of last-value queues that have no message left.
--
-- Role     internal
--
-- It looks at the 10,000 keys that it looked at longest ago, at each once an hour at most. It locks keys only
-- afterwards, because senders wait for what it has locked. A key that was sent meanwhile stays.
create or replace function howdah._forget_values() returns void
language plpgsql volatile set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_keys howdah.last_values[];  -- held: those of its messages that still lie in the queue
    v_locked howdah.last_values[];
begin
    v_keys := array(
        select row(c.destination_id, c.key, l.message_id,
            array(select i.id from unnest(coalesce(l.held, '{}') || l.message_id) i(id)
                where howdah._lies_in(c.destination_id, i.id)), c.looked_at)::howdah.last_values
        from (
            select w.destination_id, w.key, w.looked_at from howdah.last_values w
            where w.message_id = 0 and w.looked_at < howdah.now() - interval '1 hour'
            order by w.looked_at limit 10000
        ) c
        left join lateral (
            select n.message_id, n.held from howdah.last_values n
            where n.destination_id = c.destination_id and n.key = c.key and n.message_id > 0
            order by n.message_id desc limit 1
        ) l on true);
    v_locked := array(
        select k from unnest(v_keys) k
        cross join lateral (
            select from howdah.last_values w
            where w.destination_id = k.destination_id and w.key = k.key and w.message_id = 0
            for update skip locked) w);
    update howdah.last_values w set looked_at = howdah.now()
    from unnest(v_locked) k
    where w.destination_id = k.destination_id and w.key = k.key and w.message_id = 0 and k.held <> '{}';
    delete from howdah.last_values w
    using unnest(v_locked) k
    where w.destination_id = k.destination_id and w.key = k.key and k.held = '{}'
      and not exists (
          select from howdah.last_values n
          where n.destination_id = k.destination_id and n.key = k.key and n.message_id > 0
            and n.message_id is distinct from k.message_id);
end
$$;
