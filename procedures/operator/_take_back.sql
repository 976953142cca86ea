-- howdah._take_back(p_destination, p_message_ids, p_limit): take messages out of a destination for an administrator.
--
-- Returns  each message and whether it is non-persistent. Messages that other transactions hold are skipped.
-- Role     internal
--
-- p_message_ids NULL means all of them, at most p_limit (NULL: no limit), oldest first.
--
-- Up to 10,000 named messages are found by their keys, at twenty lookups each. For more, one pass through the
-- destination reads less.
create or replace function howdah._take_back(p_destination howdah.destinations, p_message_ids bigint[], p_limit bigint)
returns table (message howdah.msgs, nonpersistent boolean)
language plpgsql volatile
as $$
begin
    perform howdah._return_leases(p_destination.id, p_limit, howdah.now(), null, p_message_ids);
    if cardinality(p_message_ids) <= 10000 then
        return query select t.* from howdah._take_named(p_destination, p_message_ids, p_limit) t;
    else
        return query select t.* from howdah._take_all(p_destination, p_message_ids, p_limit) t;
    end if;
end
$$;
