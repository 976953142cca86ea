-- howdah._check_levels(p_destination): refuse a default level of reliability that is above the highest one.
--
-- Raises   HD004 default_reliability is above max_reliability.
-- Role     internal
create or replace function howdah._check_levels(p_destination howdah.destinations) returns void
language plpgsql immutable
as $$
declare
    v_levels constant text[] := array(select howdah._level_name(l::smallint, null) from generate_series(0, 4) l);
begin
    if array_position(v_levels, p_destination.default_reliability)
       > array_position(v_levels, p_destination.max_reliability) then
        raise exception using errcode = 'HD004',
            message = format('default_reliability %s is above max_reliability %s', p_destination.default_reliability,
                p_destination.max_reliability),
            hint = 'Give both options.';
    end if;
end
$$;
