-- pgmq._refuse(p_queue, p_verb): raise the error of a queue that the caller cannot use.
--
-- Returns  the queue (howdah.destinations), if it can be used after all.
-- Raises   22004 the name is NULL; P0001 a bad name; 42P01 there is no such queue, in the words of a missing table, as
--          clients expect; HD010 not allowed.
-- Role     internal
create or replace function pgmq._refuse(p_queue text, p_verb text) returns howdah.destinations
language plpgsql volatile
as $$
declare
    v_view text := pgmq.format_table_name(p_queue, 'q');
begin
    if not exists (select from howdah.destinations d
                   where d.name = lower(p_queue) and d.dropped_at is null and d.kind = 'queue') then
        if p_queue is null then
            raise exception using errcode = 'null_value_not_allowed',
                message = 'null values cannot be formatted as an SQL identifier';
        end if;
        raise exception using errcode = 'undefined_table',
            message = format('relation "pgmq.%s" does not exist', v_view);
    end if;
    return howdah._destination(lower(p_queue), p_verb);
end
$$;
