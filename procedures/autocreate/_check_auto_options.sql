-- howdah._check_auto_options(p_options): refuse an engine's autocreate_options that no queue could have.
--
-- Raises   HD003 a name is not a valid queue name; HD004 an option is unknown or wrong, or options contradict each
--          other; HD010 called from a maintenance command.
-- Role     internal
create or replace function howdah._check_auto_options(p_options jsonb) returns void
language plpgsql volatile
as $$
begin
    perform howdah._refuse_maintenance();
    perform howdah._with_options(howdah._new_destination('auto-created'), p_options);
end
$$;
