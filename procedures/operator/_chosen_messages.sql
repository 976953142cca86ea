-- howdah._chosen_messages(p_source, p_message_ids, p_max, p_origin, p_error_class, p_fingerprint, p_older_than,
-- p_newer_than, p_selector): the messages that an operator's act concerns.
--
-- Returns  their ids (bigint[]); with filters as in howdah.list_poison, the p_max longest dead that match. NULL if
--          neither ids nor a filter are given.
-- Raises   HD001 there never was a queue p_origin; HD005 p_max is negative, or ids and a filter are both given; HD023
--          the selector is invalid.
-- Role     internal
create or replace function howdah._chosen_messages(
    p_source howdah.destinations, p_message_ids bigint[], p_max bigint, p_origin text, p_error_class text,
    p_fingerprint text, p_older_than timestamptz, p_newer_than timestamptz, p_selector text
) returns bigint[]
language plpgsql volatile
as $$
begin
    if p_max < 0 then
        raise exception using errcode = 'HD005', message = format('max_messages %s is negative', p_max);
    end if;
    if num_nonnulls(p_origin, p_error_class, p_fingerprint, p_older_than, p_newer_than, p_selector) = 0 then
        return p_message_ids;
    end if;
    if p_message_ids is not null then
        raise exception using errcode = 'HD005', message = 'message_ids and a filter do not go together',
            hint = 'Give one of them.';
    end if;
    return array(
        select d.message_id from howdah._dead_messages(p_source.id, howdah._origin_id(p_origin), p_error_class,
            p_fingerprint, p_older_than, p_newer_than, howdah._selected_messages(p_source.id, p_selector), null,
            p_max) d);
end
$$;
