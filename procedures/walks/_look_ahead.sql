-- howdah._look_ahead(p_lane, p_walk, p_after, p_want, p_tail, p_note): look through a long queue for what a selector
-- selects, beyond what this receive wants, and record it for the next receives (p_note).
--
-- Returns  the positions found and their messages; the position up to which it looked. Nothing is locked.
-- Role     internal
--
-- So few statements go through the queue, and one of several consumers of a selector makes them. A look ends after
-- 1,000 positions, or where the queue ends. It also ends after twice the time that an earlier, committed look took:
-- after 10 ms at least, and 1 s at most. So a consumer with a short timeout is not cancelled forever. In any case a
-- look continues until it has found what is wanted.
--
-- Nothing is recorded where more than one message in 64 is selected, or where there is nothing more than is wanted. The
-- last 64 positions may belong to transactions about to commit; they are left.
create or replace function howdah._look_ahead(
    p_lane howdah.lanes, p_walk howdah.walk, p_after bigint, p_want integer, p_tail bigint, p_note boolean,
    out seqs bigint[], out message_ids bigint[], out upto bigint
) returns record
language plpgsql volatile
as $$
declare
    v_begun constant timestamptz := clock_timestamp();
    v_digest constant uuid := md5(p_walk.selector)::uuid;
    v_page record;
    v_size integer := 256;
    v_rows bigint := 0;
    v_ended boolean;
    v_limit interval;
    v_last bigint;
begin
    select least(greatest(2 * max(c.took_ms), 10), 1000) * interval '1 ms' into v_limit from howdah.candidates c
    where c.destination_id = p_lane.destination_id and c.digest = v_digest and c.rank = p_lane.rank;
    upto := p_after;
    seqs := '{}';
    message_ids := '{}';
    loop
        execute format(
            'select array_agg(k.seq) filter (where k.selected) as seqs,
                array_agg(k.message_id) filter (where k.selected) as ids, max(k.seq) as last, count(*) as rows
            from (select m.seq, m.message_id, (%s) is true as selected
                  from (select r.*, false as nonpersistent from howdah.msgs r
                        where r.destination_id = $1 and r.rank = $2 and r.seq > $3 order by r.seq limit $4) m
                  offset 0) k', p_walk.condition)
        into v_page using p_lane.destination_id, p_lane.rank, upto, v_size;
        seqs := seqs || v_page.seqs;
        message_ids := message_ids || v_page.ids;
        upto := coalesce(v_page.last, upto);
        v_rows := v_rows + v_page.rows;
        v_ended := v_page.rows < v_size;
        exit when v_ended;
        v_size := least(4 * v_size, 4096);
        continue when cardinality(seqs) < p_want;
        exit when 64 * cardinality(v_page.seqs) > v_page.rows or cardinality(seqs) >= 1000
            or clock_timestamp() - v_begun >= v_limit;
    end loop;
    if upto > p_tail - 64 or v_ended then
        upto := greatest(p_after, p_tail - 64);
    end if;
    seqs := seqs[:width_bucket(upto, seqs)];
    message_ids := message_ids[:cardinality(seqs)];
    if cardinality(seqs) <= p_want or 64 * cardinality(seqs) > v_rows or not p_note then
        return;
    end if;
    delete from howdah.candidates c
    where c.destination_id = p_lane.destination_id and c.digest = v_digest and c.rank = p_lane.rank
      and (c.upto <= howdah._hint(p_lane.head) or c.upto > p_after);
    v_last := p_after;
    for v_from in 1..cardinality(seqs) by 100 loop  -- a row of 100 is not toasted
        v_page.last := case when v_from + 100 > cardinality(seqs) then upto else seqs[v_from + 99] end;
        insert into howdah.candidates (destination_id, digest, rank, upto, after, selector, seqs, message_ids, took_ms)
        values (p_lane.destination_id, v_digest, p_lane.rank, v_page.last, v_last, p_walk.selector,
            seqs[v_from:v_from + 99], message_ids[v_from:v_from + 99],
            extract(epoch from clock_timestamp() - v_begun) * 1000);
        v_last := v_page.last;
    end loop;
end
$$;
