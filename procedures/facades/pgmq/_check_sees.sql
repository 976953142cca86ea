-- pgmq._check_sees(p_destination_id): refuse callers who may neither browse a queue nor receive from it.
--
-- Raises   42501 in the words of a table's missing grant.
-- Role     internal
create or replace function pgmq._check_sees(p_destination_id integer) returns void
language plpgsql volatile
as $$
begin
    if not (howdah._has_right(p_destination_id, 'browse') or howdah._has_right(p_destination_id, 'receive')) then
        raise exception using errcode = 'insufficient_privilege',
            message = format('permission denied for table q_%s', howdah._destination_name(p_destination_id));
    end if;
end
$$;
