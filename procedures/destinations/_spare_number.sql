-- howdah._spare_number(): a number whose sequences maintenance has made beforehand: howdah._make_spares.
--
-- Returns  integer; NULL if there is none.
-- Role     internal
--
-- With an old snapshot, a number that another transaction has taken since would cause an error.
create or replace function howdah._spare_number() returns integer
language plpgsql volatile
as $$
declare
    v_id integer;
begin
    if not howdah._has_old_snapshot() then
        delete from howdah.spare_numbers s
        where s.id = (select f.id from howdah.spare_numbers f order by f.id limit 1 for update skip locked)
        returning s.id into v_id;
    end if;
    return v_id;
end
$$;
