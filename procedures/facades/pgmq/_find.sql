-- pgmq._find(p_destination_id, p_rank, p_head, p_want, p_conditional, p_now, p_parked): the visible messages of a queue
-- with the lowest numbers, ready and parked ones together.
--
-- Returns  one row: the positions of the ready ones and the ids of the parked ones, locked (NULL: none).
-- Role     internal
--
-- It skips what others have locked. It may lock some more rows than are wanted until the transaction ends, most often
-- none. If many parked messages are due, it looks at those due first, at least 256. p_parked is their lane. Where
-- dead rows make the look slow, howdah._look_parked goes on from where the last look ended. With p_conditional it looks
-- at all messages.
create or replace function pgmq._find(
    p_destination_id integer, p_rank smallint, p_head bigint, p_want bigint, p_conditional jsonb, p_now timestamptz,
    p_parked howdah.lanes, out seqs bigint[], out parked bigint[]
) returns record
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
declare
    v_due bigint[];
    v_expired howdah.parked[];
    v_due_seqs bigint[];
    v_slow tid[];
begin
    if p_conditional is not null then
        seqs := array(
            select m.seq from howdah.msgs m
            where m.destination_id = p_destination_id and m.rank = p_rank
              and (m.expires_at > p_now) is not false
              and pgmq._json(m.content_type, coalesce(m.body, howdah._body(m.message_id))) @> p_conditional
            order by m.seq limit p_want for update skip locked);
        v_due := array(
            select p.message_id from howdah.parked p
            where p.destination_id = p_destination_id and p.rank = p_rank and p.due_at <= p_now
              and (p.expires_at > p_now) is not false
              and (p.boot is null or p.boot = pg_postmaster_start_time())
              and pgmq._json(p.content_type, coalesce(p.body, howdah._body(p.message_id))) @> p_conditional);
    end if;
    loop
        if p_conditional is not null then
            null;
        elsif howdah._hint(p_parked.head) > 1 then
            v_slow := howdah._look_parked(p_parked, least(p_want, 10000)::integer, p_now, false);
            v_due := array(select p.message_id from howdah.parked p where p.ctid = any (v_slow));
        else
            v_due := array(
                select p.message_id from howdah.parked p
                where p.destination_id = p_destination_id and p.rank = p_rank and p.due_at <= p_now
                  and (p.boot is null or p.boot = pg_postmaster_start_time())
                order by p.due_at, p.seq limit greatest(p_want, 256));
        end if;
        with due as materialized (
            select p.message_id, p.seq, (p.expires_at <= p_now) is true as expired, p as stored from howdah.parked p
            where p.ctid = any (howdah._parked_rows(p_destination_id, v_due)) and p.due_at <= p_now
            order by p.seq limit p_want for update skip locked
        )
        select array_agg(d.message_id order by d.seq) filter (where not d.expired),
            array_agg(d.seq order by d.seq) filter (where not d.expired), array_agg(d.stored) filter (where d.expired)
        into v_due, v_due_seqs, v_expired from due d;
        exit when v_expired is null;
        perform howdah._dispose(p_destination_id, howdah._as_ready(e), e.boot is not null, 'parked', p_now)
        from unnest(v_expired) e;
    end loop;
    if p_conditional is null then
        -- Who draws a position passes over a row that was locked. So those that are certainly wanted are locked first,
        -- and more of them only before the last parked one.
        seqs := array(
            select m.seq from howdah.msgs m
            where m.destination_id = p_destination_id and m.rank = p_rank and m.seq > p_head - 16
              and (m.expires_at > p_now) is not false
            order by m.seq limit p_want - coalesce(cardinality(v_due), 0) for update skip locked);
        if v_due_seqs[cardinality(v_due)] > coalesce(seqs[cardinality(seqs)], p_head - 16) then
            seqs := seqs || array(
                select m.seq from howdah.msgs m
                where m.destination_id = p_destination_id and m.rank = p_rank
                  and m.seq > coalesce(seqs[cardinality(seqs)], p_head - 16)
                  and m.seq < v_due_seqs[cardinality(v_due)] and (m.expires_at > p_now) is not false
                order by m.seq limit p_want for update skip locked);
        end if;
    end if;
    with chosen as (
        select r.seq, null::bigint as id from unnest(seqs) r(seq)
        union all
        select d.seq, d.id from unnest(v_due_seqs, v_due) d(seq, id)
        order by 1 limit p_want
    )
    select array_agg(c.seq order by c.seq) filter (where c.id is null), array_agg(c.id) filter (where c.id is not null)
    into seqs, parked from chosen c;
end
$$;
