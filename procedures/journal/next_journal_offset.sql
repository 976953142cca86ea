-- howdah.next_journal_offset(since, max_messages, upto, queues, fail_on_loss): how far a reader of the journal may go
-- in one batch.
--
-- Returns  an offset, or since itself if nothing was written since. Between the two lie whole transactions with at most
--          max_messages messages, or a single transaction with more; NULL: all there are. upto: go no further than this
--          offset. queues: only their messages count.
-- Raises   HD005 wrong argument; HD036 rows were dropped unread; HD037 another cluster, a standby, or a server that was
--          set back.
-- Role     howdah_auditor howdah_admin
--
-- A batch that ends within a backlog has passed the transactions below some id that have ended by now. About the
-- others it has passed those that since had passed. It is a snapshot that never existed, in which each transaction is
-- seen as a whole. Open transactions stay listed as open, however old, and hold up nothing else.
create or replace function howdah.next_journal_offset(
    since jsonb, max_messages bigint default null, upto jsonb default null, queues text[] default null,
    fail_on_loss boolean default true
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, howdah,
    pg_temp set enable_seqscan = off set jit = off
as $$
declare
    v_since pg_snapshot := howdah._offset_snapshot(since);
    v_present pg_snapshot;
    v_ids integer[];
    v_first bigint := pg_snapshot_xmin(v_since)::text::bigint;
    v_end bigint;
    v_window bigint := greatest(max_messages / 1000, 100);
    v_found boolean := false;
    v_total bigint := 0;
    v_part record;
begin
    if max_messages <= 0 then
        raise exception using errcode = 'HD005', message = 'max_messages must be positive',
            hint = 'NULL: all there is.';
    end if;
    perform howdah.check_journal_offset(since, fail_on_loss);
    v_present := case when upto is null then howdah._snapshot() else howdah._offset_snapshot(upto) end;
    if queues is not null then
        v_ids := array(select d.id from howdah.destinations d where d.name = any (queues));
    end if;
    v_end := pg_snapshot_xmax(v_present)::text::bigint;
    while v_first < v_end loop
        -- Each look goes four times as far as the one before. So never much more than a batch is counted, and an empty
        -- stretch costs little.
        v_window := least(case when max_messages is null then v_end - v_first else v_window end, v_end - v_first);
        with fresh as materialized (
            select j.xid, coalesce(
                sum(case when j.last_id is null then cardinality(j.message_ids)
                    else (j.last_id - j.message_ids[1]) / 1000000 + 1 end)
                filter (where v_ids is null or j.destination_id = any (v_ids) or j.other_destination_id = any (v_ids)),
                0) as messages
            from howdah.journal j
            where j.xid >= v_first and j.xid < v_first + v_window
              and pg_visible_in_snapshot(j.xid::text::xid8, v_present)
              and not pg_visible_in_snapshot(j.xid::text::xid8, v_since)
            group by j.xid
        ), running as (
            select f.xid, f.messages, v_total + sum(f.messages) over (order by f.xid) as total from fresh f
        )
        select count(*) > 0 as found, coalesce(max(r.total), v_total) as total,
            min(r.xid) filter (where r.total > max_messages and r.total > r.messages) as cut
        into v_part from running r;
        v_found := v_found or v_part.found;
        v_total := v_part.total;
        if v_part.cut is not null then
            v_present := howdah._snapshot_below(v_since, v_present, v_part.cut);
            exit;
        end if;
        v_first := v_first + v_window;
        v_window := v_window * 4;
    end loop;
    if not v_found then
        return since;
    end if;
    return since || jsonb_build_object('snapshot', v_present::text)
        || case when fail_on_loss is not false then '{}' else jsonb_build_object('dropped',
            (select e.journal_dropped_xid from howdah.engine e)) end;
end
$$;
