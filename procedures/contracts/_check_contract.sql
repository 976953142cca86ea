-- howdah._check_contract(p_destination, p_bodies, p_is_text): refuse bodies that do not keep to the contract of a queue
-- or topic.
--
-- Raises   HD050 a body does not keep to it. Nothing has been written.
-- Role     internal
create or replace function howdah._check_contract(
    p_destination howdah.destinations, p_bodies bytea[], p_is_text boolean
) returns void
language plpgsql volatile
as $$
declare
    v_one record;
    v_value jsonb;
    v_fault text;
begin
    for v_one in select b.body, b.n from unnest(p_bodies) with ordinality b(body, n) loop
        v_value := case when p_is_text then howdah._json_of(v_one.body) end;
        begin
            v_fault := case when not p_is_text then 'it is bytes, and the contract is about JSON'
                when v_value is null then 'it is no JSON'
                else howdah._contract_fault(p_destination.contract, v_value, p_destination.contract, '#', 0,
                    clock_timestamp() + interval '5 seconds') end;
        exception when sqlstate 'HD050' then
            v_fault := sqlerrm;
        end;
        if v_fault is not null then
            raise exception using errcode = 'HD050',
                message = format('%s does not keep to the contract of %s: %s',
                    case when cardinality(p_bodies) = 1 then 'the body' else format('body %s', v_one.n) end,
                    quote_literal(p_destination.name), case when length(v_fault) <= 500 then v_fault
                        else left(v_fault, 200) || '…' || right(v_fault, 200) end),
                hint = 'The option contract of the queue or topic has the JSON Schema; see docs/contracts.md.';
        end if;
    end loop;
end
$$;
