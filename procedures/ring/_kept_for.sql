-- howdah._kept_for(p_slot): why a closed table is not emptied: who needs so many of its messages.
--
-- Returns  text.
-- Role     internal
create or replace function howdah._kept_for(p_slot integer) returns text
language sql volatile
as $$
    select format(
        'more than 10,000 messages in it are needed, most of them of topic %s; until that ends no topic gives space '
        'back', quote_literal(d.name))
    from howdah._still_needed(p_slot) n join howdah.destinations d on d.id = n.destination_id
    group by d.name order by count(*) desc, d.name limit 1
$$;
