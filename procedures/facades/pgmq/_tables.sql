-- The tables and types of the schema pgmq. The order of the columns and fields is part of pgmq's contract.
create table if not exists pgmq.meta (
    queue_name varchar not null constraint meta_queue_name_key unique,
    is_partitioned boolean not null,
    is_unlogged boolean not null,
    created_at timestamptz not null default howdah.now()
);
comment on table pgmq.meta is 'The queues that were made through the facade. Their messages lie in howdah.';

create unlogged table if not exists pgmq.notify_insert_throttle (
    queue_name varchar not null constraint notify_insert_throttle_queue_name_key unique
        constraint notify_insert_throttle_meta_queue_name_fk references pgmq.meta (queue_name) on delete cascade,
    throttle_interval_ms integer not null default 0,
    last_notified_at timestamptz not null default to_timestamp(0)
);
comment on table pgmq.notify_insert_throttle is 'Queues whose sends notify pgmq.q_<queue>.INSERT, and how often.';

create sequence if not exists pgmq.notifying;
comment on sequence pgmq.notifying is 'A hint: it has a value if there ever was a row in notify_insert_throttle.';

create table if not exists pgmq.topic_bindings (
    pattern text not null,
    queue_name text not null
        constraint topic_bindings_meta_queue_name_fk references pgmq.meta (queue_name) on delete cascade,
    bound_at timestamptz not null default howdah.now(),
    compiled_regex text generated always as ('^' || replace(replace(
        regexp_replace(pattern, '([.+?{}()|\[\]\\^$])', '\\\1', 'g'), '*', '[^.]+'), '#', '.*') || '$') stored,
    constraint topic_bindings_unique_pattern_queue unique (pattern, queue_name)
);
comment on table pgmq.topic_bindings is 'Which queues get a copy of a message with a routing key.';

do $$
begin
    if to_regtype('pgmq.message_record') is null then
        create type pgmq.message_record as (
            msg_id bigint, read_ct integer, enqueued_at timestamptz, last_read_at timestamptz, vt timestamptz,
            message jsonb, headers jsonb);
        create type pgmq.queue_record as (
            queue_name varchar, is_partitioned boolean, is_unlogged boolean, created_at timestamptz);
        create type pgmq.metrics_result as (
            queue_name text, queue_length bigint, newest_msg_age_sec integer, oldest_msg_age_sec integer,
            total_messages bigint, scrape_time timestamptz, queue_visible_length bigint,
            default_partition_length bigint);
    end if;
end
$$;
