-- pgmq._hide(p_destination_id, p_rank, p_seqs, p_locked, p_parked, p_until, p_now): take messages out of sight until a
-- given time.
--
-- Returns  the messages as they are then.
-- Role     internal
--
-- p_seqs are positions of ready messages. p_locked: the caller has locked them; otherwise it alone has drawn them.
-- p_parked are ids of parked messages, locked. Rows are deleted and inserted, never updated: a receiver that meets an
-- updated row keeps its lock.
create or replace function pgmq._hide(
    p_destination_id integer, p_rank smallint, p_seqs bigint[], p_locked boolean, p_parked bigint[],
    p_until timestamptz, p_now timestamptz
) returns setof pgmq.message_record
language plpgsql volatile
    set enable_seqscan = off set enable_bitmapscan = off set jit = off
as $$
begin
    if p_parked is null then
        return query
        with gone as (
            delete from howdah.msgs m
            where m.destination_id = p_destination_id and m.rank = p_rank
              and m.seq between p_seqs[1] and p_seqs[cardinality(p_seqs)] and m.seq = any (p_seqs)
              and (p_locked or m.xmax = 0) and (m.expires_at > p_now) is not false
            returning m.*
        ), hidden as (
            insert into howdah.parked as i
            select g.*, p_until, 'lease', null, null, null, 1, p_now from gone g
            returning i.message_id, i.sent_at, i.content_type, i.body, i.headers
        )
        select pgmq._number(p_destination_id, h.message_id), 1, h.sent_at, p_now, p_until,
            pgmq._json(h.content_type, coalesce(h.body, howdah._body(h.message_id))), pgmq._shown_headers(h.headers)
        from hidden h order by h.message_id;
        return;
    end if;
    return query
    with ready as (
        delete from howdah.msgs m
        where m.destination_id = p_destination_id and m.rank = p_rank and m.seq = any (p_seqs)
          and (m.expires_at > p_now) is not false
        returning m.*
    ), again as (
        delete from howdah.parked p
        where p.ctid = any (howdah._parked_rows(p_destination_id, p_parked))
          and (p.expires_at > p_now) is not false
        returning p as stored
    ), hidden as (
        insert into howdah.parked as i
        select r.*, p_until, 'lease', null::timestamptz, null::bigint, null::text, 1, p_now from ready r
        union all
        select (howdah._as_ready(a.stored)).*, p_until, 'lease', (a.stored).boot, null, null,
            coalesce((a.stored).reads, 0) + 1, p_now
        from again a
        returning i.seq, i.message_id, i.sent_at, i.content_type, i.body, i.headers, i.reads
    )
    select pgmq._number(p_destination_id, h.message_id), h.reads, h.sent_at, p_now, p_until,
        pgmq._json(h.content_type, coalesce(h.body, howdah._body(h.message_id))), pgmq._shown_headers(h.headers)
    from hidden h order by h.seq;
end
$$;
