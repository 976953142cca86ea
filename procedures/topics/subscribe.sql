-- howdah.subscribe(topic, name, …): subscribe to a topic, or to all topics that match a wildcard.
--
-- Returns  the subscription's name (text), which howdah.receive, record_failure, pause, alter_queue and others take as
--          a queue.
-- Raises   HD001 no such topic, or no such queue that the options name; HD002 no room for a dead-letter queue that the
--          options need; HD003 bad name; HD004 wrong option; HD005 wrong argument; HD010 not allowed; HD023 the
--          selector is invalid; HD024 it exists with another definition and is being read, or as (un)shared, or without
--          a client id for another topic; HD025 a restored database (howdah.rebase_topics); HD040 the engine is
--          quiesced or stopped; HD027 the missing topic cannot create itself (docs/auto-creation.md); HD045 the master
--          of changes is away.
-- Role     howdah_consumer howdah_admin
--
-- A durable subscription (the default) has a name. It gets every message published from now on, whether anybody reads
-- it or not. With since it also gets earlier messages that are still stored ('-infinity': all).
--
-- A message counts as published when it is committed. So the subscription also gets what its own transaction had
-- published before. But a topic without subscriptions stores nothing: its first subscription misses messages sent
-- before it was committed, whenever they commit.
--
-- A subscription that is not durable ends when nobody has received or waited for a minute. It starts with what the
-- topic's recovery policy gives.
--
-- shared: several consumers at once, each message to one of them. no_local: no messages published under the same client
-- id (howdah.set_client_id). Subscribing again with the same definition changes nothing. With another definition the
-- subscription starts anew, unless it is being read (JMS 2.0, section 8.3).
--
-- options: prioritized (one cursor per priority, higher priorities first), and the poison policy as in create_queue.
-- exception_queue and log_queue must be queues that the caller may send to. journal_level, persistent and
-- exception_prefix are for administrators.
create or replace function howdah.subscribe(
    topic text, name text default null, client_id text default '', selector text default null,
    shared boolean default false, durable boolean default true, no_local boolean default false,
    since timestamptz default null, options jsonb default '{}'
) returns text
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_new howdah.subscriptions;
    v_old howdah.subscriptions;
    v_former howdah.destinations;
    v_row howdah.destinations;
    v_topics integer[];
    v_id integer;
    v_upto pg_snapshot;
begin
    perform howdah._check_engine('{quiesced,stopped}');
    perform howdah._refuse_maintenance();
    perform howdah._check_cluster();
    -- From here to the commit, no table is emptied (howdah.maintain_topics), and no topic is created that a wildcard
    -- would miss.
    perform howdah._share_latch('subscribing');
    if topic ~ '[*>]' then
        perform howdah._share_latch('names');
    end if;
    perform howdah._ensure_destination(topic, 'topic') where topic !~ '[*>]';
    v_topics := howdah._topics_for(topic, 'receive');
    perform from howdah.destinations d where d.id = any (v_topics) for key share;
    v_topics := howdah._topics_for(topic, 'receive');  -- without those that somebody has just dropped
    if howdah._has_old_snapshot() then
        perform howdah._same_ring((select max(r.truncations) from howdah.topic_ring r));
    end if;
    perform howdah._check_subscription(name, client_id, shared, durable, no_local, options);
    perform howdah._check_subscription_rights(options);
    v_new.topic := topic;
    v_new.client_id := client_id;
    v_new.durable := durable;
    v_new.shared := shared;
    v_new.no_local := no_local;
    v_new.prioritized := coalesce((options ->> 'prioritized')::boolean, false);
    v_new.selector := nullif(btrim(selector), '');
    v_new.selector_sql := howdah._compile_selector(selector);
    v_new.name := coalesce(name, replace(gen_random_uuid()::text, '-', ''));
    v_row := howdah._new_destination(format('%s:%s:%s%s', topic, client_id, case when durable then '' else '~' end,
        v_new.name));
    if length(v_row.name) > 242 then
        raise exception using errcode = 'HD003',
            message = 'topic, client id and name of a subscription have 240 characters at most together';
    end if;
    perform pg_advisory_xact_lock(howdah._lock_key('subscription name', v_new.client_id || ':' || v_new.name));
    select s.* into v_old
    from howdah.subscriptions s join howdah.destinations d on d.id = s.destination_id
    where d.dropped_at is null and s.client_id = v_new.client_id and s.name = v_new.name and s.durable = v_new.durable;
    if found then
        if v_old.shared <> v_new.shared then
            raise exception using errcode = 'HD024',
                message = format('subscription %s of client %s exists as %s one', quote_literal(name),
                quote_literal(client_id), case when v_old.shared then 'a shared' else 'an unshared' end),
                hint = 'Choose another name, or end that one with howdah.unsubscribe.';
        elsif v_old.topic <> v_new.topic and v_new.client_id = '' then
            raise exception using errcode = 'HD024',
                message = format('subscription %s without a client id exists for %s', quote_literal(name),
                quote_literal(v_old.topic)),
                hint = 'Choose another name, or give a client_id, or end the other with howdah.unsubscribe.';
        end if;
        if (v_old.topic, v_old.no_local, v_old.prioritized) = (v_new.topic, v_new.no_local, v_new.prioritized)
           and v_old.selector is not distinct from v_new.selector then
            perform howdah._check_changes() where durable;
            return (select d.name from howdah.destinations d where d.id = v_old.destination_id);
        end if;
        -- Anybody can give any client id and name. Without this check, a caller without rights on the former topic
        -- could end its subscription through a topic of their own.
        v_former := howdah._subscription((select d.name from howdah.destinations d where d.id = v_old.destination_id),
            'receive');
        perform howdah._lock_subscription(v_former);
        perform howdah._check_no_consumer(v_former);
        perform howdah._unsubscribe(v_former, 'subscription changed');
    end if;
    v_row := howdah._with_options(v_row, howdah._policy_for(topic));
    v_row.strict_order := false;  -- a wildcard policy may set these options, which are for queues
    v_row.backout_count := replace(v_row.backout_count, 'hardened', 'recorded');
    v_row.message_groups := 'none';
    v_row.delivery_policy := 'shared';
    v_row.keep_bodies_ms := null;
    v_row.last_value_key := null;
    v_row.contract := null;
    v_row := howdah._with_options(v_row, options - 'prioritized');
    v_row.kind := 'subscription';
    v_row.journal_level_at := v_row.created_at;
    perform howdah._ensure_targets(v_row);
    v_id := howdah._add_destination(v_row);
    v_new.destination_id := v_id;
    v_new.alive := howdah._new_hint('alive_' || v_id);
    perform howdah._note_alive(v_new.alive);
    insert into howdah.subscriptions select v_new.*;
    perform howdah._copy_rights(v_id, v_topics, howdah._is_wildcard(topic));
    v_upto := howdah._snapshot();
    perform howdah._add_cursors(v_new, t.id, case when since is null then v_upto else '3:3:'::pg_snapshot end)
    from unnest(v_topics) t(id);
    if since > '-infinity' then
        perform howdah._begin_since(v_new, since, howdah._snapshot());
    elsif since is null and not durable then
        perform howdah._recover(v_new, t.id, v_upto) from unnest(v_topics) t(id);
    end if;
    perform howdah._record_change('subscription', v_row.name, 'created', null,
        howdah._properties('subscription', v_row.name));
    return v_row.name;
end
$$;
