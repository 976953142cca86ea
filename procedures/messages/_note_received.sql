-- howdah._note_received(p_reliability): note that the transaction received a message of this level, by its name.
--
-- Returns  true (boolean), for WHERE.
-- Role     internal
create or replace function howdah._note_received(p_reliability text) returns boolean
language plpgsql volatile
as $$
begin
    perform howdah._commit_needs(howdah._reliability_number(p_reliability));
    return true;
end
$$;
