-- howdah._journal_totals(p_id, p_fresh): the number of messages by destination and event: the stored totals and, with
-- p_fresh, what the journal has beyond them.
--
-- Returns  destination_id, event (with moved_in and replayed_in at the receiving destination) and the number of
--          messages.
-- Role     internal
create or replace function howdah._journal_totals(p_id integer, p_fresh boolean)
returns table (destination_id integer, event text, messages bigint)
language sql stable
as $$
    select t.destination_id, t.event, t.messages from howdah.journal_totals t
    where p_id is null or t.destination_id = p_id
    union all
    select u.destination_id, u.event, u.messages
    from howdah.engine e cross join lateral howdah._journal_since(e.totals_snapshot, null, p_id) u
    where p_fresh
$$;
