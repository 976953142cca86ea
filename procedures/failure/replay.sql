-- howdah.replay(queue, message_ids, target, max_messages, origin, error_class, fingerprint, older_than, newer_than,
-- reason, selector, dry_run): send dead messages back to where they came from, or to another queue.
--
-- Returns  the number of messages replayed (bigint); with dry_run, the number that would be, and nothing is replayed.
-- Raises   HD001 no such queue, or a message has no queue to go back to; HD005 max_messages is negative, message_ids
--          and a filter are both given, dry_run is NULL, or target is the queue itself or a topic; HD010 not allowed;
--          HD013 a message is not in the queue; HD023 the selector is invalid.
-- Role     howdah_admin
--
-- queue is the exception destination that holds them. message_ids NULL means all, at most max_messages, oldest first.
-- With the filters of howdah.list_poison it means those that match, the longest dead first. Without message_ids,
-- messages in somebody's hands are skipped.
--
-- Body, headers and id stay. Failures count from 0 again. The messages go to the end of the target queue.
create or replace function howdah.replay(
    queue text, message_ids bigint[] default null, target text default null, max_messages bigint default null,
    origin text default null, error_class text default null, fingerprint text default null,
    older_than timestamptz default null, newer_than timestamptz default null, reason text default null,
    selector text default null, dry_run boolean default false
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off
as $$
declare
    v_source howdah.destinations := howdah._queue(queue, 'admin');
    v_target howdah.destinations;
    v_wanted bigint[] := howdah._chosen_messages(v_source, message_ids, max_messages, origin, error_class, fingerprint,
        older_than, newer_than, selector);
    v_homeless bigint;
    v_count bigint;
    v_back record;
    v_message howdah.msgs;
    v_ids bigint[];
    v_targets integer[];
    v_nonpersistent boolean[];
begin
    if target is not null then
        v_target := howdah._queue(target, 'admin');
    end if;
    if v_target.id = v_source.id then
        raise exception using errcode = 'HD005', message = format('the messages are in queue %s already',
            quote_literal(queue)),
            hint = 'Name another target, or none: each goes to its origin.';
    end if;
    perform howdah._refuse_null('dry_run', dry_run);
    if dry_run then
        select count(*), min(t.message_id) filter (where replay.target is null and not exists (
            select from howdah.destinations d where d.id = t.origin_id and d.dropped_at is null))
        into v_count, v_homeless
        from howdah._takeable(v_source, v_wanted, max_messages) t;
        perform howdah._check_home(v_homeless);
        perform howdah._check_all_taken(v_source, message_ids, v_count, 'replayed');
        return v_count;
    end if;
    for v_back in
        select t.message, t.nonpersistent from howdah._take_back(v_source, v_wanted, max_messages) t
        order by (t.message).message_id
    loop
        v_message := v_back.message;
        if target is null and v_message.origin_id is distinct from v_target.id then
            select d.* into v_target from howdah.destinations d
            where d.id = v_message.origin_id and d.dropped_at is null;
        end if;
        if v_target.id is null then
            perform howdah._check_home(v_message.message_id);
        end if;
        v_message.destination_id := v_target.id;
        v_message.seq := nextval(v_target.positions);
        v_message.stage := least(v_message.stage + 1, 32767);
        v_message.origin_id := null;
        v_message.dead_at := null;
        v_message.dead_reason := null;
        perform howdah._put(v_message, v_back.nonpersistent, true);
        v_ids := v_ids || v_message.message_id;
        v_targets := v_targets || v_target.id;
        v_nonpersistent := v_nonpersistent || v_back.nonpersistent;
    end loop;
    perform howdah._check_all_taken(v_source, message_ids, coalesce(cardinality(v_ids), 0), 'replayed');
    perform howdah._journal(v_source, 'replayed', g.ids, g.nonpersistent, g.target)
    from (select array_agg(r.id) as ids, r.nonpersistent, r.target
          from unnest(v_ids, v_nonpersistent, v_targets) r(id, nonpersistent, target)
          group by r.nonpersistent, r.target) g;
    perform howdah._record_act('replayed', v_source.id, g.ids, g.target, reason)
    from (select array_agg(r.id) as ids, r.target from unnest(v_ids, v_targets) r(id, target) group by r.target) g;
    return coalesce(cardinality(v_ids), 0);
end
$$;
