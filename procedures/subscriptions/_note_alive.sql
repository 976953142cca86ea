-- howdah._note_alive(p_alive): record that a consumer of a subscription was heard of just now.
--
-- Role     internal
create or replace function howdah._note_alive(p_alive regclass) returns void
language sql volatile
as $$ select setval(p_alive, howdah._pace(clock_timestamp())) $$;
