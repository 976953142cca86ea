-- howdah._made_fault(p_made): why what a transformation returned cannot be a message.
--
-- Returns  text; NULL if it can.
-- Role     internal
create or replace function howdah._made_fault(p_made howdah.message) returns text
language sql immutable
as $$
    select case
        when p_made is null then 'it returned NULL'
        when num_nonnulls(p_made.body, p_made.bytes) <> 1 then 'it returned not exactly one of body and bytes'
        when jsonb_typeof(coalesce(p_made.headers, '{}')) <> 'object' then 'it returned headers that are no object'
        when coalesce(p_made.content_type, '') = '' then 'it returned no content_type' end
$$;
