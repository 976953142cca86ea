-- howdah._reclaim_expired(): remove expired messages of all destinations that nobody holds, at most 10,000 of each
-- table.
--
-- Returns  the number of messages removed (bigint).
-- Role     internal
create or replace function howdah._reclaim_expired() returns bigint
language plpgsql volatile
as $$
begin
    return (select sum(howdah._reclaim(p.place, '(0,0)', '(4294967294,0)', howdah.now(), 10000))
        from generate_series(0, 2) p(place));
end
$$;
