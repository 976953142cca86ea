-- howdah._place_shared(p_stream, p_plain): find where a usual subscription that several consumers share continues.
--
-- Returns  one row. It has the cursor, the step n where it stands, and the topic's id. upto: the snapshot to read up
--          to. slot and nonpersistent: as in howdah._begin_stream. First comes the rest of the transaction that the
--          cursor has passed in part (rest_xid, after rest_seq; NULL: none). Then comes what lies after the message
--          (after, after_seq) and was not passed (done; NULL: nothing was).
-- Role     internal
--
-- p_stream comes from howdah._begin_stream. p_plain: nothing of it was ever set aside, but for what lies in msgs.
create or replace function howdah._place_shared(
    p_stream record, p_plain boolean, out slot integer, out nonpersistent boolean, out topic_id integer,
    out ack_id integer, out n bigint, out seq bigint, out upto pg_snapshot, out rest_xid xid8, out rest_seq bigint,
    out after xid8, out after_seq bigint, out done pg_snapshot
) returns record
language plpgsql volatile
as $$
declare
    v_id integer := p_stream.id;
    v_aside boolean;
    v_xid xid8;
    v_snapshot pg_snapshot;
    v_late xid8;
    v_slots integer[];
begin
    select a.destination_id, a.id, c.n, c.xid, c.seq, c.snapshot, howdah._snapshot(),
        exists (select from howdah.msgs o where o.destination_id = v_id)
    into topic_id, ack_id, n, v_xid, seq, v_snapshot, upto, v_aside
    from howdah.acks a
    cross join lateral (select s.n, s.xid, s.seq, s.snapshot from howdah.ack_cursors s where s.ack_id = a.id
        order by s.n desc limit 1) c
    where a.subscription_id = v_id;
    if not found or v_aside then
        return;
    elsif not p_plain then
        perform
        where exists (select from howdah.msgs_nonpersistent o where o.destination_id = v_id)
           or exists (select from howdah.parked o where o.destination_id = v_id)
              and howdah._has_due(v_id, p_stream.moment)
           or (select true from howdah.acked o
               where o.ack_id = _place_shared.ack_id and o.lease_id is not null and o.leased_until <= p_stream.moment
               order by o.leased_until limit 1);
        if found then
            return;
        end if;
    end if;
    after := pg_snapshot_xmax(v_snapshot);
    after_seq := -1;
    if seq >= 0 and v_xid >= after and pg_snapshot_xmin(v_snapshot) = after then
        after := v_xid;
        after_seq := seq;
    elsif seq >= 0 or pg_snapshot_xmin(v_snapshot) < after then
        done := howdah._whole_snapshot(row(ack_id, n, v_xid, seq, 0, null, v_snapshot)::howdah.ack_cursors);
        after := pg_snapshot_xmax(done);
        select x.xid into v_late from pg_snapshot_xip(done) x(xid) where pg_visible_in_snapshot(x.xid, upto)
        order by x.xid limit 1;
        if seq >= 0 then
            rest_xid := v_xid;
            rest_seq := seq;
        end if;
        if v_late is null then
            done := null;
        -- If a very old transaction has ended, the way from its id on may be long.
        elsif after::text::bigint - v_late::text::bigint > 100000 then
            return;
        else
            after := v_late;
        end if;
    end if;
    -- This is asked after the snapshot. What it shows is in the open tables then, or in those of before.
    if p_stream.closed <= least(after, rest_xid) and p_stream.generation = howdah._generation() then
        slot := p_stream.generation % 3;
    else
        v_slots := howdah._slots_from(least(after, rest_xid));
        slot := case when cardinality(v_slots) = 1 then v_slots[1] end;
    end if;
    nonpersistent := false;
    if pg_relation_size(('howdah.topic_nonpersistent_' || slot)::regclass) > 0 then
        nonpersistent := howdah._is_nonpersistent(slot, topic_id, least(after, rest_xid));
        slot := case when nonpersistent is not null then slot end;
    end if;
end
$$;
