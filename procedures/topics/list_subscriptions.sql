-- howdah.list_subscriptions(topic, after, max_rows): list subscriptions, durable and not, and how far behind they are.
--
-- Returns  one row per subscription, by name; with topic, only those that read it. behind: at most how many messages
--          were published in all its topics since the first unread one; it counts rolled-back and unwanted messages,
--          too. behind_for: the age of that first message. set_aside: failed messages that wait for another try.
--          silent_for: the time since a consumer was last heard of.
-- Raises   HD001 no such topic; HD005 max_rows is not 1 to 10000; HD037 on a standby; HD010 called from a maintenance
--          command.
-- Role     howdah_admin howdah_consumer howdah_browser howdah_auditor
--
-- max_rows NULL: all. For the next page, pass the last subscription as after.
create or replace function howdah.list_subscriptions(
    topic text default null, after text default null, max_rows integer default null
) returns table (
    subscription text, topic_name text, client_id text, name text, durable boolean, shared boolean, no_local boolean,
    prioritized boolean, selector text, paused boolean, behind bigint, behind_for interval, delivered bigint,
    set_aside bigint, silent_for interval, created_at timestamptz, created_by text
)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_topic integer := (select d.id from howdah.destinations d
        where d.name = topic and d.kind = 'topic' and d.dropped_at is null
          and (howdah._sees_all() or howdah._sees(d.id)));
begin
    perform howdah._check_all_here();
    if topic is not null and v_topic is null then
        raise exception using errcode = 'HD001', message = format('there is no topic %s',
            quote_literal(left(topic, 250))),
            hint = 'See howdah.list_topics().';
    end if;
    return query
    select d.name, s.topic, s.client_id, s.name, s.durable, s.shared, s.no_local, s.prioritized, s.selector,
        d.receiving_paused, coalesce(l.behind, 0)::bigint, coalesce(howdah.now() - l.oldest, interval '0'),
        coalesce(l.delivered, 0)::bigint,
        (select count(*) from howdah.msgs m where m.destination_id = d.id) + (select count(*) from howdah.parked p
            where p.destination_id = d.id and (p.boot is null or p.boot = pg_postmaster_start_time()))
            + (select count(*) from howdah.msgs_nonpersistent n
                where n.destination_id = d.id and n.boot = pg_postmaster_start_time()),
        interval '1 millisecond' * howdah._silent_ms(s.alive),
        d.created_at, d.created_by
    from howdah.subscriptions s
    join howdah.destinations d on d.id = s.destination_id
    left join (
        select t.subscription_id, sum(t.behind) as behind, min(t.oldest) as oldest, sum(t.delivered) as delivered
        from howdah._lags(v_topic) t group by t.subscription_id
    ) l on l.subscription_id = d.id
    where d.dropped_at is null and ((select howdah._sees_all()) or howdah._sees(d.id))
      and (v_topic is null or exists (select from howdah.acks a
          where a.subscription_id = d.id and a.destination_id = v_topic))
      and (after is null or d.name > after)
    order by d.name limit howdah._most_rows(max_rows);
end
$$;
