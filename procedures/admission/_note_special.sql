-- howdah._note_special(p_destination): make receives ask how they may look in a queue that is not plain.
--
-- Role     internal
--
-- A walk begins where its hint says that nothing lies before. Claims in a plain queue set the same hint without that
-- promise. So the hint is reset once the claims that were open at the first mark have ended (howdah._set_mark). A
-- REPEATABLE READ transaction older than the change may still claim as before.
create or replace function howdah._note_special(p_destination howdah.destinations) returns void
language plpgsql volatile
as $$
begin
    if howdah._is_walked(p_destination) or p_destination.backout_count = 'hardened' or p_destination.limited then
        perform nextval(p_destination.special);
    end if;
    if howdah._is_walked(p_destination) then
        perform setval(coalesce(to_regclass('howdah.mark_' || p_destination.id),
            howdah._new_hint('mark_' || p_destination.id)), 0);
    end if;
    if p_destination.limited then
        perform howdah._make_rate_cells(p_destination);
    end if;
end
$$;
