-- howdah._settle_ring(): make the counts of turns and truncations agree with the table again, after a transaction that
-- changed both was rolled back.
--
-- Role     internal
--
-- Sequences are not rolled back. A session that is changing them holds the lock, and this call waits. A transaction
-- that keeps its snapshot may see an old ring, and changes nothing.
create or replace function howdah._settle_ring() returns void
language plpgsql volatile
as $$
declare
    v_ring record;
begin
    select max(r.truncations) as truncations, max(r.generation)
        filter (where r.state = 'open') as generation into v_ring from howdah.topic_ring r;
    if v_ring.truncations = coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0)
       and v_ring.generation = howdah._generation() or howdah._has_old_snapshot() then
        return;
    end if;
    perform howdah._latch('ring');
    select max(r.truncations) as truncations, max(r.generation)
        filter (where r.state = 'open') as generation into v_ring from howdah.topic_ring r;
    if v_ring.truncations <> coalesce(pg_sequence_last_value('howdah.topic_truncations'::regclass), 0) then
        perform setval('howdah.topic_truncations'::regclass, v_ring.truncations);
    end if;
    if v_ring.generation < howdah._generation() then
        -- Publishers have gone on to the next table, or through it to the one after.
        update howdah.topic_ring r set state = 'closing' where r.state = 'open';
        update howdah.topic_ring r
        set state = case when g.last = howdah._generation() then 'open' else 'closing' end, generation = g.last,
            closed_xid = null, closed_at = null, opened_at = howdah.now()
        from (select max(g) as last from generate_series(v_ring.generation + 1, howdah._generation()) g
            group by g % 3) g
        where r.slot = g.last % 3;
    end if;
end
$$;
