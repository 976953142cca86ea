-- howdah._apply(p_kind, p_name, p_wanted): give a thing wanted properties: make, alter or drop it.
--
-- Raises   HD045 a change of this kind cannot be taken back; what the verbs raise that it calls.
-- Role     internal
--
-- Each verb checks the caller's rights, and records what it does. p_wanted NULL: there shall be no such thing.
create or replace function howdah._apply(p_kind text, p_name text, p_wanted jsonb) returns void
language plpgsql volatile
as $$
declare
    v_is constant jsonb := howdah._properties(p_kind, p_name);
begin
    if v_is is null and p_wanted is null then
        return;
    elsif p_kind in ('queue', 'topic', 'subscription') then
        perform howdah._apply_destination(p_kind, p_name, v_is, p_wanted);
    else
        perform howdah._apply_other(p_kind, p_name, v_is, p_wanted);
    end if;
end
$$;
