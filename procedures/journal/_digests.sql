-- howdah._digests(p_bodies, p_headers, p_is_text, p_content_type, p_correlation_ids, p_reply_to, p_message_types,
-- p_conversation_ids): the digests of a batch.
--
-- Returns  bytea[] in the order of p_bodies.
-- Role     internal
create or replace function howdah._digests(
    p_bodies bytea[], p_headers jsonb[], p_is_text boolean, p_content_type text, p_correlation_ids text[],
    p_reply_to text, p_message_types text[], p_conversation_ids uuid[]
) returns bytea[]
language plpgsql stable
as $$
declare
    v_secret constant uuid := (select e.digest_secret from howdah.engine e);
begin
    return array(
        select howdah._digest(v_secret, b.body, b.headers, p_is_text, p_content_type, b.correlation_id, p_reply_to,
            b.message_type, b.conversation_id)
        from unnest(p_bodies, p_headers, p_correlation_ids, p_message_types, p_conversation_ids) with ordinality
            b(body, headers, correlation_id, message_type, conversation_id, n)
        order by b.n);
end
$$;
