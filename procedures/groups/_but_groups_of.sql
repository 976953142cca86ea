-- howdah._but_groups_of(p_share, p_messages): a walk's share without the groups of messages that the caller holds.
--
-- Returns  the condition p_share (NULL: all), and that a message is of none of these groups.
-- Role     internal
create or replace function howdah._but_groups_of(p_share text, p_messages howdah.message[]) returns text
language sql stable
as $$
    select coalesce(p_share || ' and ', '')
        || format('(howdah._group(m.headers, m.conversation_id) <> all (%L::text[])) is not false',
            array(select distinct howdah._group(u.headers, u.conversation_id) from unnest(p_messages) u
                  where howdah._group(u.headers, u.conversation_id) is not null))
$$;
