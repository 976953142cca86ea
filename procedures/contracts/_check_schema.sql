-- howdah._check_schema(p_schema): refuse a JSON Schema that cannot be a contract.
--
-- Raises   HD004 it has keywords that contracts do not have, or is no schema.
-- Role     internal
--
-- A reference that leads back to itself without a step into the value would never end.
create or replace function howdah._check_schema(p_schema jsonb) returns void
language plpgsql volatile
as $$
declare
    v_fault text;
begin
    if length(p_schema::text) > 65536 then
        v_fault := 'it has more than 65,536 characters';
    else
        v_fault := howdah._schema_fault(p_schema, p_schema, '#', 0);
    end if;
    if v_fault is null then
        with recursive edge as (
            select '#' as ref, r.ref as leads from howdah._refs_in_place(p_schema) r(ref)
            union
            select howdah._pointer('#/$defs', d.key), r.ref
            from jsonb_each(coalesce(p_schema -> '$defs', '{}')) d cross join howdah._refs_in_place(d.value) r(ref)
        ), walk as (
            select e.ref as start, e.leads from edge e
            union
            select w.start, e.leads from walk w join edge e on e.ref = w.leads
        )
        select w.start || ' refers to itself without a step into the value' into v_fault
        from walk w where w.start = w.leads limit 1;
    end if;
    if v_fault is not null then
        raise exception using errcode = 'HD004', message = format('option contract cannot be this schema: %s', v_fault),
            hint = 'docs/contracts.md lists the keywords of JSON Schema that contracts have.';
    end if;
end
$$;
