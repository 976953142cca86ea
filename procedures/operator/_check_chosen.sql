-- howdah._check_chosen(p_message_ids): raise an error if an act that does not take a whole queue gets neither message
-- ids nor a filter.
--
-- Returns  nothing.
-- Raises   HD005 p_message_ids is NULL.
-- Role     internal
create or replace function howdah._check_chosen(p_message_ids bigint[]) returns void
language plpgsql immutable
as $$
begin
    if p_message_ids is null then
        raise exception using errcode = 'HD005', message = 'message_ids cannot be NULL without a filter',
            hint =
                'Name the messages, or give a filter of howdah.list_poison; howdah.move_all(queue, target) and '
                'howdah.purge_queue(queue) take all.';
    end if;
end
$$;
