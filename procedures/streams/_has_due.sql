-- howdah._has_due(p_destination_id, p_moment): whether a message that waits for a time is due at a moment.
--
-- Returns  boolean.
-- Role     internal
--
-- The index of parked has the priority before the time. So each priority is asked for its first message. Else
-- PostgreSQL before 18 reads the entries of all that wait. Ask first whether anything waits at all: usually nothing
-- does.
create or replace function howdah._has_due(p_destination_id integer, p_moment timestamptz) returns boolean
language plpgsql stable
as $$
begin
    return exists (
        select from generate_series(0, 9) r(rank)
        cross join lateral (
            select from howdah.parked p
            where p.destination_id = p_destination_id and p.rank = r.rank::smallint and p.due_at <= p_moment
            order by p.due_at limit 1) k);
end
$$;
