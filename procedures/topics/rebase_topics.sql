-- howdah.rebase_topics(): fit topic messages and cursors to the transaction ids of the cluster into which the database
-- was restored.
--
-- Returns  how many messages and cursors were rewritten (text).
-- Raises   HD005 there is nothing to do, because the database is still in its cluster; or the transaction is not READ
--          COMMITTED. HD010 called from a maintenance command.
-- Role     howdah_admin
--
-- The transaction ids in a dump mean nothing in another cluster. A message with an id of the future would stay
-- invisible, and so be skipped.
--
-- Everything restored is committed. So each message gets the first transaction id there is, and each cursor keeps what
-- it had not read. Nothing is lost and nothing comes twice; the order is that of positions. Run it before anybody
-- publishes or receives; it locks them out.
create or replace function howdah.rebase_topics() returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_ack howdah.acks;
    v_cursor howdah.ack_cursors;
    v_first bigint;
    v_slot integer;
    v_messages bigint := 0;
    v_cursors bigint := 0;
    v_count bigint;
    v_old constant bigint := (select e.system_identifier from howdah.engine e);
begin
    if (select e.system_identifier = c.system_identifier from howdah.engine e cross join pg_control_system() c) then
        raise exception using errcode = 'HD005',
            message = 'this database is in the cluster that its topics were written in',
            hint = 'Nothing has to be done.';
    end if;
    if howdah._has_old_snapshot() then
        raise exception using errcode = 'HD005', message = 'howdah.rebase_topics needs READ COMMITTED',
            hint = 'With an older snapshot it would not see all that was published.';
    end if;
    perform howdah._latch('ring');
    lock table howdah.topic_msgs_0, howdah.topic_msgs_1, howdah.topic_msgs_2, howdah.topic_nonpersistent_0,
        howdah.topic_nonpersistent_1, howdah.topic_nonpersistent_2, howdah.ack_cursors,
        howdah.acked in access exclusive mode;
    delete from howdah.acked a where a.lease_id is not null;
    for v_ack in select a.* from howdah.acks a loop
        v_cursor := howdah._cursor(v_ack.id);
        select coalesce(min(m.seq), coalesce((select pg_sequence_last_value(d.positions) from howdah.destinations d
                                              where d.id = v_ack.destination_id), 0) + 1)
        into v_first
        from howdah._all_published(v_ack.destination_id) m
        where not howdah._is_passed(v_cursor, m.xid, m.seq)
          and not exists (select from howdah.acked a where a.ack_id = v_ack.id and a.seq = m.seq);
        insert into howdah.acked (ack_id, seq, xid)
        select v_ack.id, m.seq, '3' from howdah._all_published(v_ack.destination_id) m
        where m.seq > v_first and howdah._is_passed(v_cursor, m.xid, m.seq)
        on conflict do nothing;
        delete from howdah.acked a where a.ack_id = v_ack.id and a.seq < v_first;
        perform howdah._move_cursor(v_cursor, '3', v_first - 1, 0, '3:3:');
        v_cursors := v_cursors + 1;
    end loop;
    update howdah.acked a set xid = '3' where a.xid <> '3'::xid8;
    for v_slot in 0..2 loop
        execute format('update howdah.topic_msgs_%s t set xid = ''3''::xid8 where t.xid <> ''3''::xid8', v_slot);
        get diagnostics v_count = row_count;
        v_messages := v_messages + v_count;
        execute format('delete from howdah.topic_nonpersistent_%s', v_slot);
    end loop;
    update howdah.topic_ring r set closed_xid = '4' where r.closed_xid is not null;
    perform setval(m.name, 0) from (select to_regclass('howdah.mark_' || d.id) as name from howdah.destinations d) m
    where m.name is not null;
    perform setval('howdah.topic_checked'::regclass, 0);
    update howdah.config_changes c set transaction = 3;
    update howdah.engine e
    set system_identifier = c.system_identifier, record_id = gen_random_uuid()
    from pg_control_system() c;
    perform setval('howdah.changes_dropped', 1, false);
    perform howdah._record_change('cluster', 'topics', 'altered', jsonb_build_object('system_identifier', v_old),
        (select jsonb_build_object('system_identifier', e.system_identifier) from howdah.engine e));
    return format('%s messages, %s cursors', v_messages, v_cursors);
end
$$;
