-- howdah._check_creation(): refuse a new destination while the engine is full.
--
-- Raises   HD010 called from a maintenance command; HD027 the resource state is red.
-- Role     internal
create or replace function howdah._check_creation() returns void
language plpgsql volatile
as $$
begin
    perform howdah._refuse_maintenance();
    if howdah._system_limited() and exists (select from howdah._resources() r where r.level = 3) then
        raise exception using errcode = 'HD027', message = 'the engine is full and creates no queue or topic',
            hint =
                'Its resource state is red (howdah.resource_state()). Wait until messages are consumed, or raise the '
                'limits.';
    end if;
end
$$;
