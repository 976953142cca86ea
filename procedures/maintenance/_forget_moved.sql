-- howdah._forget_moved(): delete records of moved messages that no longer lie where the record says.
--
-- Role     internal
--
-- It looks at 10,000 records per call, and goes on where the last call ended. A message that a transaction has in hand
-- is still seen.
create or replace function howdah._forget_moved() returns void
language plpgsql volatile set enable_seqscan = off set jit = off
as $$
declare
    v_from bigint := howdah._hint('howdah.moved_walk');
    v_until bigint;
begin
    v_until := (select max(s.message_id) from (
        select o.message_id from howdah.moved o where o.message_id > v_from order by o.message_id limit 10000) s);
    delete from howdah.moved o
    where o.message_id > v_from and o.message_id <= v_until
      and not exists (select from howdah.msgs m
                      where m.destination_id = o.destination_id and m.rank = o.rank and m.seq = o.seq
                        and m.message_id = o.message_id)
      and not exists (select from howdah.msgs_nonpersistent n
                      where n.destination_id = o.destination_id and n.rank = o.rank and n.seq = o.seq
                        and n.message_id = o.message_id);
    perform setval('howdah.moved_walk', coalesce(v_until, 0));
end
$$;
