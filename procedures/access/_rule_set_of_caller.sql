-- howdah._rule_set_of_caller(): the set of access rules that holds for the caller.
--
-- Returns  text; NULL if access control is off for it.
-- Role     internal
create or replace function howdah._rule_set_of_caller() returns text
language sql stable
as $$ select howdah._rule_set_of(howdah._caller()) $$;
