-- howdah._ensure_advisory(): create the queue in which administrators are told of events.
--
-- Role     internal
create or replace function howdah._ensure_advisory() returns void
language plpgsql volatile
as $$
declare
    v_any howdah.destinations := howdah._new_destination('-');
begin
    v_any.notify_admin := true;
    perform howdah._ensure_targets(v_any);
end
$$;
