-- howdah._check_levels(p_destination): refuse a default level of reliability that is above the highest one.
--
-- Raises   HD004 default_reliability is above max_reliability.
-- Role     internal
create or replace function howdah._check_levels(p_destination howdah.destinations) returns void
language plpgsql immutable
as $$
begin
    if howdah._level(p_destination.default_reliability) > howdah._level(p_destination.max_reliability) then
        raise exception using errcode = 'HD004',
            message = format('default_reliability %s is above max_reliability %s', p_destination.default_reliability,
                p_destination.max_reliability),
            hint = 'Give both options.';
    end if;
end
$$;
