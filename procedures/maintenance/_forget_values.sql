-- howdah._forget_values(): forget the keys of last-value queues that have no message left.
--
-- Role     internal
--
-- It looks at the 10,000 keys that nobody has looked at for longest, at each once an hour at most.
create or replace function howdah._forget_values() returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_key record;
begin
    for v_key in
        select l.destination_id, l.key, l.message_ids from howdah.last_values l
        where l.changed_at < howdah.now() - interval '1 hour'
        order by l.changed_at limit 10000 for update skip locked
    loop
        if exists (
            select from unnest(v_key.message_ids) i(id)
            where exists (
                select from generate_series(0, 9) r(rank)
                cross join unnest(howdah._positions(v_key.destination_id, i.id)) s(seq)
                cross join lateral (
                    select from howdah.msgs m
                    where m.destination_id = v_key.destination_id and m.rank = r.rank and m.seq = s.seq
                      and m.message_id = i.id
                    union all
                    select from howdah.msgs_nonpersistent n
                    where n.destination_id = v_key.destination_id and n.rank = r.rank and n.seq = s.seq
                      and n.message_id = i.id and n.boot = pg_postmaster_start_time()
                    offset 0) k)
            or exists (select from howdah.parked p
                where p.destination_id = v_key.destination_id and p.message_id = i.id)
            or exists (select from howdah.leased e
                where e.destination_id = v_key.destination_id and e.message_id = i.id)) then
            update howdah.last_values l set changed_at = howdah.now()
            where l.destination_id = v_key.destination_id and l.key = v_key.key;
        else
            delete from howdah.last_values l where l.destination_id = v_key.destination_id and l.key = v_key.key;
        end if;
    end loop;
end
$$;
