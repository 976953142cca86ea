-- howdah._transformed(p_destination, p_transformation, p_held, p_hold): deliver messages that the transaction holds, as
-- a transformation makes them.
--
-- Returns  howdah.message of those that it could transform, in order. They are consumed unless p_hold says to keep them
--          held.
-- Raises   HD049 the transformation's function is gone or no longer suitable: no message is to blame.
-- Role     internal
--
-- An error is recorded as a failure of the message in this transaction, and the poison policy applies. So the message
-- waits, or goes where the policy says. A rollback undoes that, too, and then the error comes again.
create or replace function howdah._transformed(
    p_destination howdah.destinations, p_transformation text, p_held howdah.message[], p_hold boolean
) returns setof howdah.message
language plpgsql volatile
as $$
declare
    v_held howdah.message;
    v_made record;
    v_good howdah.message[] := '{}';
begin
    foreach v_held in array p_held loop
        v_made := howdah._transform(p_transformation, v_held);
        if v_made.unfit then
            raise exception using errcode = 'HD049',
                message = format('%s cannot receive: %s', quote_literal(p_destination.name),
                    v_made.failure ->> 'error_text'),
                hint = 'Messages wait meanwhile. howdah.list_transformations() says who uses the transformation.';
        elsif v_made.failure is null then
            v_good := v_good || v_made.message;
        else
            perform howdah._record_failure(p_destination, v_made.failure, false, true);
        end if;
    end loop;
    if not p_hold and v_good <> '{}' then
        perform howdah._end_held(p_destination, array_agg(g.message_id), array_agg(g.priority),
            array_agg(g."position"), 'consumed', 'transformed')
        from unnest(v_good) g;
    end if;
    return query select * from unnest(v_good);
end
$$;
