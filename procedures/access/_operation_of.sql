-- howdah._operation_of(p_verb): the operation of access rules that a verb of a right is.
--
-- Returns  text: produce for send, consume for receive, and the others under their own names.
-- Role     internal
create or replace function howdah._operation_of(p_verb text) returns text
language sql immutable
as $$ select case p_verb when 'send' then 'produce' when 'receive' then 'consume' else p_verb end $$;
