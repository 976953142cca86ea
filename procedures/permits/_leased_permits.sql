-- howdah._leased_permits(p_id, p_key): the permits of a limit whose messages are under a lease.
--
-- Returns  integer[]; a number may come twice.
-- Role     internal
--
-- Messages that pgmq's readers have out of sight are leases without a number. A lease that has run out counts while
-- another transaction has its message in hand, because that transaction may be about to extend it. A message in hand is
-- recognised by its row lock, which this call tries and releases.
create or replace function howdah._leased_permits(p_id integer, p_key uuid) returns integer[]
language plpgsql volatile
    set enable_seqscan = off set jit = off
as $$
declare
    v_now timestamptz := howdah.now();
    v_leased integer[];
    v_over bigint[];
    v_free bigint[] := '{}';
begin
    select array_agg(l.permit) filter (where p.due_at > v_now), array_agg(l.message_id) filter (where p.due_at <= v_now)
    into v_leased, v_over
    from howdah.leased_permits l
    join howdah.parked p on p.destination_id = l.destination_id and p.message_id = l.message_id
    where l.destination_id = p_id and l.key = p_key and p.parked_reason = 'lease'
      and not exists (select from howdah.leased_permits n
                      where n.destination_id = p_id and n.message_id = l.message_id and n.key = p_key and n.id > l.id);
    if v_over is not null then
        begin
            v_free := array(select p.message_id from howdah.parked p
                            where p.ctid = any (howdah._parked_rows(p_id, v_over)) for update skip locked);
            raise exception 'the locks go with this';
        exception when raise_exception then
            null;
        end;
        v_leased := v_leased || array(
            select l.permit from howdah.leased_permits l
            where l.destination_id = p_id and l.key = p_key and l.message_id = any (v_over)
              and l.message_id <> all (v_free));
    end if;
    return coalesce(v_leased, '{}');
end
$$;
