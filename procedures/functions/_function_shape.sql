-- howdah._function_shape(p_kind): what a function of an application takes and returns.
--
-- Returns  arguments and result, types; signature and returns, the same as text; caller, the function of ours that
--          calls it. p_kind is poison procedure or transformation.
-- Role     internal
create or replace function howdah._function_shape(
    p_kind text, out arguments regtype[], out result regtype, out signature text, out returns text, out caller text
) returns record
language plpgsql stable
as $$
begin
    if p_kind = 'transformation' then
        arguments := '{howdah.message}';
        result := 'howdah.message';
        signature := '(howdah.message)';
        caller := '_call_transformation';
    else
        arguments := '{howdah.message,jsonb}';
        result := 'boolean';
        signature := '(howdah.message, jsonb)';
        caller := '_call_poison_procedure';
    end if;
    returns := format_type(result, null);
end
$$;
