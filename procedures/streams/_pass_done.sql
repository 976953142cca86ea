-- howdah._pass_done(p_place, p_last, p_ring, p_now): move the cursor of a shared subscription over what is done, up to
-- the first message that is not, or that is leased.
--
-- Raises   40001 a table was emptied meanwhile.
-- Role     internal
--
-- p_place comes from howdah._place_shared, for which the ring had p_ring truncations. p_last is the position that the
-- caller took last, or NULL. It does what howdah._advance_cursor does, for at most 10,000 messages of a usual
-- subscription. If somebody else is doing it, or has done it since, it does nothing.
--
-- Expired messages are read too. Some were consumed before, and their notes go with the others. One that is leased is
-- not passed: its holder may still acknowledge it.
create or replace function howdah._pass_done(p_place record, p_last bigint, p_ring bigint, p_now timestamptz)
returns void
language plpgsql volatile
as $$
declare
    v_slot integer := p_place.slot;
    v_topic_id integer := p_place.topic_id;
    v_ack_id integer := p_place.ack_id;
    v_cursor howdah.ack_cursors;
    v_upto pg_snapshot := p_place.upto::text::pg_snapshot;  -- a snapshot out of a record is packed
    -- What the caller took last is near: ask for all up to it at once. Beyond it, nothing is passed then.
    v_near boolean := p_place.seq >= 0 and p_place.done is null
        and p_last - p_place.seq between 1 and 4096;
    v_after xid8;
    v_after_seq bigint;
    v_to xid8;
    v_done pg_snapshot;
    v_number bigint;
    v_keys record;
    v_xid xid8;
    v_seqs bigint[] := '{}';
    v_delivered bigint;
begin
    if not pg_try_advisory_xact_lock(howdah._lock_key('cursor', v_ack_id::text)) then
        return;
    end if;
    select c.* into v_cursor from howdah.ack_cursors c where c.ack_id = v_ack_id order by c.n desc limit 1;
    if v_cursor.n is distinct from p_place.n or howdah._truncations() <> p_ring then
        return;
    end if;
    for v_way in case when p_place.rest_xid is null then 2 else 1 end..2 loop
        v_after := case when v_way = 1 then p_place.rest_xid else p_place.after end;
        v_after_seq := case when v_way = 1 then p_place.rest_seq else p_place.after_seq end;
        v_to := case when v_way = 1 then v_after else pg_snapshot_xmax(v_upto) end;
        v_done := case when v_way = 2 then p_place.done::text::pg_snapshot end;
        case
            -- for N in 0, 1, 2, MODE in persistent, nonpersistent:
            when v_slot = N and OF_MODE p_place.nonpersistent then
                select k.number into v_number
                from (select t.seq, t.expires_at, row_number() over () as number
                      from howdah._MODE_N(v_topic_id, v_after, v_after_seq, v_to, v_done,
                          v_upto, null, 10000) t) k
                where case when v_near
                    then k.seq not in (select a.seq from howdah.acked a where a.ack_id = v_ack_id
                        and a.seq > p_place.seq and a.seq <= p_last and a.lease_id is null)
                    else (select true from howdah.acked a
                        where a.ack_id = v_ack_id and a.seq = k.seq and a.lease_id is null limit 1) is null end
                  and ((k.expires_at <= p_now) is not true or exists (
                      select from howdah.acked a where a.ack_id = v_ack_id and a.seq = k.seq))
                limit 1;
                select max(t.xid) as xid, array_agg(t.seq) as seqs into v_keys
                from howdah._MODE_N(v_topic_id, v_after, v_after_seq, v_to, v_done, v_upto,
                    null, coalesce(v_number - 1, 10000)) t;
            -- end for
        end case;
        if v_keys.xid is not null then
            v_xid := v_keys.xid;
            v_seqs := v_seqs || v_keys.seqs;
        end if;
        exit when v_number is not null or cardinality(v_keys.seqs) = 10000;
    end loop;
    delete from howdah.acked a where a.ack_id = v_ack_id and a.seq = any (v_seqs);
    get diagnostics v_delivered = row_count;
    if v_number is not null or cardinality(v_keys.seqs) = 10000 then
        if v_xid is not null then
            perform howdah._move_cursor(v_cursor, v_xid, v_seqs[cardinality(v_seqs)], v_delivered,
                howdah._cursor_after(v_cursor, v_upto, v_xid));
        end if;
    elsif v_xid is not null or v_cursor.seq >= 0 then
        perform howdah._move_cursor(v_cursor, '3', -1, v_delivered, v_upto);
    end if;
end
$$;
