-- howdah._reliability_number(p_asked): the number of a level of reliability, or of the one that a delivery mode stands
-- for.
--
-- Returns  smallint: 0 (best effort) to 4 (assured); NULL for NULL.
-- Raises   HD005 there is no such level or mode.
-- Role     internal
--
-- persistent is assured, and non-persistent is express. A connection factory may map them otherwise.
create or replace function howdah._reliability_number(p_asked text) returns smallint
language plpgsql immutable
as $$
declare
    v_level smallint := case p_asked
        when 'persistent' then 4 when 'non-persistent' then 1
        when 'BEST_EFFORT_NONPERSISTENT' then 0 when 'EXPRESS_NONPERSISTENT' then 1
        when 'RELIABLE_NONPERSISTENT' then 2 when 'RELIABLE_PERSISTENT' then 3 when 'ASSURED_PERSISTENT' then 4 end;
begin
    if v_level is null and p_asked is not null then
        raise exception using errcode = 'HD005',
            message = format('there is no delivery mode or level of reliability %s', quote_literal(left(p_asked, 60))),
            hint =
                'The modes are persistent and non-persistent. The levels are BEST_EFFORT_NONPERSISTENT, '
                'EXPRESS_NONPERSISTENT, RELIABLE_NONPERSISTENT, RELIABLE_PERSISTENT and ASSURED_PERSISTENT.';
    end if;
    return v_level;
end
$$;
