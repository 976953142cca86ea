-- howdah._is_nonpersistent(p_slot, p_topic, p_from): which kinds of message a topic has in the tables of one number,
-- from a transaction on.
--
-- Returns  boolean: true if all are non-persistent; false if all are persistent, or there are none; NULL if there are
--          both.
-- Role     internal
create or replace function howdah._is_nonpersistent(p_slot integer, p_topic integer, p_from xid8) returns boolean
language plpgsql volatile
as $$
declare
    v_persistent boolean;
    v_nonpersistent boolean;
begin
    case p_slot
        -- for N in 0, 1, 2:
        when N then
            v_nonpersistent := exists (select from howdah.topic_nonpersistent_N t
                where t.destination_id = p_topic and t.xid >= p_from);
            v_persistent := v_nonpersistent and exists (select from howdah.topic_msgs_N t
                where t.destination_id = p_topic and t.xid >= p_from);
        -- end for
        else null;
    end case;
    return case when not v_persistent or not v_nonpersistent then v_nonpersistent end;
end
$$;
