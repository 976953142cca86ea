-- howdah.link_arrive(link_id, …): store a batch that came over a link, each message once however often it
-- comes.
--
-- Returns  stored: how many are new; repeated: how many had arrived before.
-- Raises   HD005 wrong argument, or the transaction is not READ COMMITTED; HD010 not allowed, or another role forwards
--          for the link; HD025 one of both engines was set back; HD043 messages are refused: the detail is a JSON array
--          of message_id, sqlstate, error_text and reject; HD001, HD006, HD007, HD008, HD017, HD018, HD027, HD039,
--          HD040 as howdah.send_batch for the queue as a whole; HD002, HD004 the missing queue or topic cannot create
--          itself (docs/auto-creation.md); HD045 the master of changes is away; HD049 a bridge with a transformation
--          needs READ COMMITTED (docs/transformations.md); HD050 a body does not keep to the contract
--          (docs/contracts.md).
-- Role     howdah_producer howdah_admin
--
-- The arguments are what howdah.link_take returned at the sender. Commit, then commit there. A receipt of each message
-- is stored in the same transaction. Receipts stay until the sender says that it has consumed the messages:
-- acknowledged names the last batch that it committed. So no time passes after which a message could come twice.
-- started says when the sending server started: non-persistent messages that it had before do not come again. NULL:
-- nobody knows.
create or replace function howdah.link_arrive(
    link_id uuid, engine_id uuid, engine_name text, link_name text, source text, queue text, batch bigint,
    attempt uuid, acknowledged uuid, messages json, started timestamptz default null
) returns table (stored integer, repeated integer)
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
as $$
declare
    v_arrival howdah.link_arrivals;
    v_again bigint[];
    v_new json := messages;
    v_stored record;
    v_lost bigint;
begin
    if num_nulls(link_id, engine_id, engine_name, link_name, source, queue, batch, attempt, messages) > 0
       or batch < 1 or json_typeof(messages) <> 'array' or howdah._has_old_snapshot()
       or greatest(length(engine_name), length(link_name), length(source)) > 1000 then
        raise exception using errcode = 'HD005',
            message = 'a batch of a link needs all that howdah.link_take returned, and READ COMMITTED',
            hint = 'Only acknowledged can be NULL, and messages is a JSON array.';
    end if;
    v_arrival := howdah._link_arrival(link_id, engine_id, engine_name, link_name, source, batch);
    with pruned as (
        delete from howdah.link_receipts r
        where r.arrival_id = v_arrival.arrival_id
          and (link_arrive.acknowledged = any (r.attempts)
            or r.sender_boot <> link_arrive.started and isfinite(r.sender_boot))
        returning cardinality(r.message_ids) as messages, link_arrive.acknowledged = any (r.attempts) as consumed
    )
    select coalesce(sum(p.messages) filter (where p.consumed is not true), 0) into v_lost from pruned p;
    repeated := 0;
    if exists (select from howdah.link_receipts r where r.arrival_id = v_arrival.arrival_id) then
        v_again := array(select o.message_id
            from howdah._link_repeated(v_arrival.arrival_id, link_arrive.attempt, messages) o);
        repeated := cardinality(v_again);
    end if;
    if repeated > 0 then
        select coalesce(json_agg(e.value order by e.ordinality), '[]') into v_new
        from json_array_elements(messages) with ordinality e
        where (e.value ->> 'message_id')::bigint <> all (v_again);
    end if;
    begin
        v_stored := howdah._link_store(queue, v_new);
    exception when others then
        if howdah._link_refusal(sqlstate) is null or json_array_length(v_new) = 0 then
            raise;
        end if;
        v_stored := howdah._link_store_each(queue, v_new);
    end;
    stored := cardinality(v_stored.local_ids);
    perform howdah._keep_receipts(v_arrival.arrival_id, link_arrive.attempt, link_arrive.started,
        v_stored.message_ids, v_stored.sent_ats, v_stored.local_ids, v_stored.levels);
    update howdah.link_arrivals a
    set batch = link_arrive.batch, arrived = a.arrived + stored, repeated = a.repeated + link_arrive.repeated,
        lost = a.lost + v_lost, arrived_at = howdah.now()
    where a.arrival_id = v_arrival.arrival_id;
    perform howdah._commit_surely();
    -- A forwarder that hangs before its commit would keep the next one waiting for the row of the link.
    perform set_config('idle_in_transaction_session_timeout', '60s', true);
    return next;
end
$$;
