-- howdah._share_rules(): let nobody change access rules until the transaction ends, and wait for whoever does.
--
-- Role     internal
--
-- A new destination compiles the rules that it sees. So it sees all: READ COMMITTED looks again after the wait, and
-- REPEATABLE READ fails with 40001.
create or replace function howdah._share_rules() returns void
language sql volatile
as $$ select from howdah.access_rule_sets s order by s.name for share $$;
