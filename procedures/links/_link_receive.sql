-- howdah._link_receive(p_source, p_want, p_selector, p_transformation): receive what a link forwards, as its
-- transformation makes it.
--
-- Returns  up to p_want rows of howdah.message.
-- Raises   as howdah.receive; HD049 as howdah._transformed.
-- Role     internal
--
-- A message that cannot be transformed has failed at its source. So it looks again, eight times at most, as
-- howdah._receive_transformed does.
create or replace function howdah._link_receive(
    p_source text, p_want integer, p_selector text, p_transformation text
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_source howdah.destinations;
    v_held howdah.message[];
begin
    if p_transformation is null then
        return query select * from howdah.receive(p_source, p_want, false, p_selector);
        return;
    end if;
    v_source := howdah._destination(p_source, 'receive');
    for i in 1..8 loop
        v_held := array(select r from howdah.receive(p_source, p_want, true, p_selector) r);
        exit when v_held = '{}';
        return query select t.* from howdah._transformed(v_source, p_transformation, v_held, false) t;
        exit when found;
    end loop;
end
$$;
