-- howdah._composite_members(p_names): the destinations listed in a composite name, each once; the caller may send to
-- all of them.
--
-- Returns  howdah.destinations[], in the order of the name. An alias's target has the alias's name here.
-- Raises   HD001 a destination does not exist, or is not of the kind that the name says; HD010 the caller may not send
--          there.
-- Role     internal
create or replace function howdah._composite_members(p_names text) returns howdah.destinations[]
language plpgsql volatile
as $$
declare
    v_part text;
    v_kind text;
    v_member howdah.destinations;
    v_members howdah.destinations[] := '{}';
begin
    -- In one order, so that two such sends do not wait for each other.
    perform howdah._ensure_destination(n.name, n.kind) from (
        select btrim(regexp_replace(p.part, '^[[:space:]]*(?:temp-)?(queue|topic)://', '')) as name,
            substring(p.part from '^[[:space:]]*(?:temp-)?(queue|topic)://') as kind
        from string_to_table(p_names, ',') p(part) order by 1) n;
    foreach v_part in array string_to_array(p_names, ',') loop
        v_kind := substring(v_part from '^[[:space:]]*(?:temp-)?(queue|topic)://');
        v_part := btrim(regexp_replace(v_part, '^[[:space:]]*(?:temp-)?(queue|topic)://', ''));
        v_member := howdah._destination(v_part, 'send');
        if v_member.kind <> v_kind then
            raise exception using errcode = 'HD001',
                message = format('%s is a %s, not a %s', quote_literal(v_part), v_member.kind, v_kind),
                hint = 'Names of queues and topics with commas between: A,B,topic://C,queue://D.';
        end if;
        v_member.name := v_part;
        if v_member.id <> all (array(select m.id from unnest(v_members) m)) then
            v_members := v_members || v_member;
        end if;
    end loop;
    return v_members;
end
$$;
