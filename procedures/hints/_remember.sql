-- howdah._remember(p_search, p_back, p_begun, p_found): record how far a search came, and when its next step is due.
--
-- Role     internal
--
-- After a step that found something, the next is due at once. Otherwise it is due after 5 ms, or later, so that steps
-- take at most a twentieth of the time.
create or replace function howdah._remember(
    p_search regclass, p_back bigint, p_begun timestamptz, p_found boolean
) returns void
language plpgsql volatile
as $$
declare
    v_now timestamptz := clock_timestamp();
    v_pause interval := case when p_found then '0'
        else least(greatest('5 ms', 20 * (v_now - p_begun)), '2 s'::interval) end;
begin
    perform setval(p_search, (p_back << 20) | (howdah._pace(v_now + v_pause) & 1048575));
end
$$;
