-- howdah._check_batch(p_destination, p_bodies, p_headers, p_priorities, p_lengths, …): refuse a batch that its
-- destination does not take.
--
-- Raises   HD005 p_bodies is NULL, or an array is not as long; and as howdah._check_message and howdah._check_contract,
--          for the first message that is wrong.
-- Role     internal
--
-- p_lengths: the lengths of the arrays beside the bodies; NULL where there is none.
create or replace function howdah._check_batch(
    p_destination howdah.destinations, p_bodies bytea[], p_headers jsonb[], p_priorities integer[],
    p_lengths integer[], p_is_text boolean, p_content_type text, p_time_to_live interval, p_delay interval
) returns void
language plpgsql volatile
as $$
declare
    v_length integer;
    v_row record;
begin
    if p_bodies is null then
        raise exception using errcode = 'HD005', message = 'bodies cannot be NULL';
    end if;
    foreach v_length in array p_lengths loop
        if v_length <> cardinality(p_bodies) then
            raise exception using errcode = 'HD005',
                message = format('an array of %s elements beside %s bodies', v_length, cardinality(p_bodies)),
                hint = 'Arrays are NULL or as long as bodies.';
        end if;
    end loop;
    perform howdah._check_message(p_destination, 0, null, null, p_content_type, p_time_to_live, p_delay);
    select octet_length(b.body) as bytes, b.headers, b.priority into v_row
    from unnest(p_bodies, p_headers, p_priorities) b(body, headers, priority)
    where b.body is null or octet_length(b.body) > p_destination.max_message_bytes
       or jsonb_typeof(b.headers) <> 'object' or b.priority not between 0 and 9
    limit 1;
    if found then
        perform howdah._check_message(p_destination, v_row.bytes, v_row.headers, v_row.priority, p_content_type,
            p_time_to_live, p_delay);
    end if;
    if p_destination.contract is not null then
        perform howdah._check_contract(p_destination, p_bodies, p_is_text);
    end if;
end
$$;
