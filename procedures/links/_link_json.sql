-- howdah._link_json(p_messages, p_queue, p_engine_id, p_engine_name, p_target, p_away_until): messages as they go over
-- a link, without those that have passed the target.
--
-- Returns  messages, a JSON array; taken, how many they are; dropped, how many are left out. These have the level best
--          effort, and were sent while the target was away, which was until p_away_until.
-- Role     internal
--
-- It is JSON, because the other engine may be of another release. Bytes are base64. A message carries the rest of its
-- life in tenths of a second and not a time, because the clocks of two servers differ.
--
-- Two headers tell the message's route. JMS_Howdah_Origin has the engine, the queue and the number where it was sent
-- first. JMS_Howdah_Route has the identities of the engines that it passed.
create or replace function howdah._link_json(
    p_messages howdah.message[], p_queue text, p_engine_id uuid, p_engine_name text, p_target uuid,
    p_away_until timestamptz, out messages json, out taken integer, out dropped integer
) returns record
language plpgsql stable
as $$
declare
    v_now constant timestamptz := howdah.now();
begin
    select coalesce(json_agg(row_to_json(f)), '[]'), count(*)
    into messages, taken
    from (
        select m.message_id, m.sent_at, m.body as text, encode(m.bytes, 'base64') as bytes, m.content_type,
            coalesce(m.headers - 'JMSXGroupFirstForConsumer', '{}') || jsonb_build_object(
                'JMS_Howdah_Origin', coalesce(m.headers ->> 'JMS_Howdah_Origin',
                    concat_ws('/', p_engine_name, p_queue, m.message_id)),
                'JMS_Howdah_Route', concat_ws(' ', m.headers ->> 'JMS_Howdah_Route', p_engine_id)) as headers,
            m.priority, m.correlation_id, m.reply_to, m.message_type, m.conversation_id, m.delivery_mode,
            m.reliability,
            greatest(ceil(extract(epoch from m.expires_at - v_now) * 10) * 100,
                case when m.expires_at is not null then 100 end)::bigint as lives_ms,
            m."position", m.stage
        from unnest(p_messages) m
        where (strpos(m.headers ->> 'JMS_Howdah_Route', p_target::text) > 0) is not true
          and (m.reliability = 'BEST_EFFORT_NONPERSISTENT' and m.sent_at <= p_away_until) is not true
    ) f;
    dropped := (select count(*) from unnest(p_messages) m
        where m.reliability = 'BEST_EFFORT_NONPERSISTENT' and m.sent_at <= p_away_until
          and (strpos(m.headers ->> 'JMS_Howdah_Route', p_target::text) > 0) is not true);
end
$$;
