-- howdah._receive_any(p_pattern, p_want, p_hold, p_selector): receive from all queues that match a wildcard;
-- howdah.receive calls it for wildcards.
--
-- Returns  up to p_want rows of howdah.message; queue says where each comes from.
-- Raises   HD001, HD003, HD005, HD010, HD023 as howdah._matching_queues.
-- Role     internal
create or replace function howdah._receive_any(
    p_pattern text, p_want integer, p_hold boolean, p_selector text
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_taken integer;
    v_left integer := p_want;
    v_name text;
begin
    foreach v_name in array howdah._matching_queues(p_pattern, p_want, p_selector) loop
        return query select * from howdah.receive(v_name, v_left, p_hold, p_selector);
        get diagnostics v_taken = row_count;
        v_left := v_left - v_taken;
        exit when v_left = 0;
    end loop;
end
$$;
