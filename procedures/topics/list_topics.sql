-- howdah.list_topics(after, max_rows): list all topics, by name.
--
-- Returns  one row per topic. published counts the positions given out, including those of publishers that rolled back.
--          discarded: messages that went before all subscriptions had them, such as those of a sender that is gone.
-- Raises   HD005 max_rows is not 1 to 10000; HD010 called from a maintenance command.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
--
-- max_rows NULL: all. For the next page, pass the last topic as after.
create or replace function howdah.list_topics(after text default null, max_rows integer default null) returns table (
    topic text, sending_paused boolean, subscriptions bigint, durable_subscriptions bigint, bridges bigint,
    published bigint, discarded bigint, stored boolean, refused_for text, created_at timestamptz, created_by text,
    auto_created boolean
)
language plpgsql stable security definer set search_path = pg_catalog, howdah, pg_temp set jit = off
as $$
begin
    return query
    select d.name, d.sending_paused, count(distinct s.destination_id),
        count(distinct s.destination_id) filter (where s.durable),
        (select count(*) from howdah.bridges b where b.topic_id = d.id),
        coalesce(pg_sequence_last_value(d.positions), 0),
        coalesce(g.discarded, 0), t.stored, t.refused_for, d.created_at, d.created_by, d.auto_created
    from (
        select o.* from howdah.destinations o
        where o.kind = 'topic' and o.dropped_at is null and (after is null or o.name > after)
          and ((select howdah._sees_all()) or howdah._sees(o.id))
        order by o.name limit howdah._most_rows(max_rows)
    ) d
    join howdah.topics t on t.destination_id = d.id
    left join howdah.acks a on a.destination_id = d.id
    left join howdah.subscriptions s on s.destination_id = a.subscription_id
    left join (
        select j.destination_id, sum(j.messages)::bigint as discarded
        from howdah._journal_totals(null, not howdah._totals_will_do()) j where j.event = 'discarded'
        group by j.destination_id
    ) g on g.destination_id = d.id
    group by d.id, d.name, d.sending_paused, d.positions, d.created_at, d.created_by, d.auto_created, t.destination_id,
        g.discarded
    order by d.name;
end
$$;
