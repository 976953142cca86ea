-- pgmq._validate_batch_params(msgs, headers): refuse an empty batch, and one with more or fewer headers than messages.
--
-- Raises   P0001 msgs is NULL or empty; headers are not as many.
-- Role     internal
create or replace function pgmq._validate_batch_params(msgs jsonb[], headers jsonb[]) returns void
language plpgsql immutable
as $$
declare
    v_count integer := coalesce(array_length(msgs, 1), 0);
    v_headers integer := coalesce(array_length(headers, 1), 0);
begin
    if v_count = 0 then
        raise exception 'msgs cannot be NULL or empty';
    elsif headers is not null and v_headers <> v_count then
        raise exception 'headers array length (%) must match msgs array length (%)', v_headers, v_count;
    end if;
end
$$;
