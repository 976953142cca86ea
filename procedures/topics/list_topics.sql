-- howdah.list_topics(): list all topics, by name.
--
-- Returns  one row per topic; published counts the positions given out, including those of publishers that rolled back.
-- Role     howdah_admin howdah_producer howdah_consumer howdah_browser howdah_auditor
create or replace function howdah.list_topics() returns table (
    topic text, sending_paused boolean, subscriptions bigint, durable_subscriptions bigint, bridges bigint,
    published bigint, stored boolean, refused_for text, created_at timestamptz, created_by text,
    auto_created boolean
)
language sql stable security definer set search_path = pg_catalog, howdah, pg_temp
as $$
    select d.name, d.sending_paused, count(distinct s.destination_id),
        count(distinct s.destination_id) filter (where s.durable),
        (select count(*) from howdah.bridges b where b.topic_id = d.id),
        coalesce(pg_sequence_last_value(d.positions), 0), t.stored, t.refused_for, d.created_at, d.created_by,
        d.auto_created
    from howdah.destinations d
    join howdah.topics t on t.destination_id = d.id
    left join howdah.acks a on a.destination_id = d.id
    left join howdah.subscriptions s on s.destination_id = a.subscription_id
    where d.dropped_at is null
    group by d.id, t.destination_id
    order by d.name
$$;
