-- howdah._is_nonpersistent(p_slot, p_topic, p_from): what a topic has in the tables of one number, from a transaction on.
--
-- Returns  boolean: true: nothing but non-persistent messages; false: nothing but persistent ones, or none; NULL: both.
-- Role     internal
create or replace function howdah._is_nonpersistent(p_slot integer, p_topic integer, p_from xid8) returns boolean
language plpgsql volatile
as $$
declare
    v_persistent boolean;
    v_nonpersistent boolean;
begin
    if p_slot = 0 then
        v_nonpersistent := exists (select from howdah.topic_nonpersistent_0 t where t.destination_id = p_topic and t.xid >= p_from);
        v_persistent := v_nonpersistent and exists (select from howdah.topic_msgs_0 t where t.destination_id = p_topic and t.xid >= p_from);
    elsif p_slot = 1 then
        v_nonpersistent := exists (select from howdah.topic_nonpersistent_1 t where t.destination_id = p_topic and t.xid >= p_from);
        v_persistent := v_nonpersistent and exists (select from howdah.topic_msgs_1 t where t.destination_id = p_topic and t.xid >= p_from);
    elsif p_slot = 2 then
        v_nonpersistent := exists (select from howdah.topic_nonpersistent_2 t where t.destination_id = p_topic and t.xid >= p_from);
        v_persistent := v_nonpersistent and exists (select from howdah.topic_msgs_2 t where t.destination_id = p_topic and t.xid >= p_from);
    end if;
    return case when not v_persistent or not v_nonpersistent then v_nonpersistent end;
end
$$;
