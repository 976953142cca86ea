-- howdah._take_parked(p_destination_id, p_name, p_tids, p_now, p_journaled): receive the due messages that the caller
-- has locked, where nothing ever failed and none of them comes back from a lease.
--
-- Returns  howdah.message of each, in order; expired messages are disposed of instead.
-- Role     internal
create or replace function howdah._take_parked(
    p_destination_id integer, p_name text, p_tids tid[], p_now timestamptz, p_journaled boolean
) returns setof howdah.message
language plpgsql volatile
as $$
begin
    return query
    with taken as materialized (
        delete from howdah.parked p where p.ctid = any (p_tids)
        returning p.*
    ), journaled as (
        insert into howdah.journal (at, destination_id, nonpersistent, event, message_ids, oldest_sent_at)
        select p_now, p_destination_id, c.boot is not null, 'consumed',
            array_agg(c.message_id order by c.due_at, c.seq), min(c.sent_at)
        from taken c where (c.expires_at > p_now) is not false and p_journaled
        group by c.boot is not null
    )
    select c.message_id, p_name,
        CONTENT_OF c ELSE howdah._take_body(c.message_id),
        case when c.boot is null then 'persistent' else 'non-persistent' end, c.sent_at, c.expires_at, 1, false, c.seq,
        ORIGIN_OF c,
        howdah._level_name(c.reliability, c.boot is not null)
    from (select t.* from taken t order by t.due_at, t.seq offset 0) c  -- disposed of in order
    where (c.expires_at > p_now) is not false
       or howdah._dispose(p_destination_id, howdah._as_ready(row(c.*)::howdah.parked), c.boot is not null, null,
           p_now);
end
$$;
