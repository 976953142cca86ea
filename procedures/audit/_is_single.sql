-- howdah._is_single(p_row): whether a row of the journal has one message without expiry and group. An audit does not
-- unfold such a row.
--
-- Role     internal
create or replace function howdah._is_single(p_row howdah.journal) returns boolean
language sql immutable
as $$
    select cardinality(p_row.message_ids) = 1 and array_lower(p_row.message_ids, 1) = 1
        and array_ndims(p_row.message_ids) = 1 and p_row.last_id is null and p_row.expires_at is null
        and p_row.group_ids is null and coalesce(cardinality(p_row.priorities), 1) = 1
        and coalesce(cardinality(p_row.digests), 1) = 1
$$;
