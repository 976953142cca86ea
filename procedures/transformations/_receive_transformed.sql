-- howdah._receive_transformed(p_id, p_transformation, p_name, p_want, p_hold): receive from a subscription that has a
-- transformation.
--
-- Returns  up to p_want rows of howdah.message.
-- Raises   HD049 as howdah._transformed.
-- Role     internal
--
-- The caller has locked the subscription. If everything found has failed, it looks again, because nobody wakes the
-- consumer for what lies behind. A message without limit and delay fails again at once, so it looks eight times at
-- most.
create or replace function howdah._receive_transformed(
    p_id integer, p_transformation text, p_name text, p_want integer, p_hold boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_destination howdah.destinations;
    v_subscription howdah.subscriptions;
    v_held howdah.message[];
begin
    select d.* into v_destination from howdah.destinations d where d.id = p_id;
    select s.* into v_subscription from howdah.subscriptions s where s.destination_id = p_id;
    for i in 1..8 loop
        v_held := array(select m from howdah._receive_published(v_destination, v_subscription, p_name, p_want,
            true) m);
        exit when v_held = '{}';
        return query select t.* from howdah._transformed(v_destination, p_transformation, v_held, p_hold) t;
        exit when found;
    end loop;
end
$$;
