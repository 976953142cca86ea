-- howdah.send_copied(queue, …): send the messages copied into pg_temp.howdah_copy since howdah.begin_copy, in the order
-- of its rows, all or nothing.
--
-- Returns  the number of messages sent (bigint).
-- Raises   HD001, HD005, HD006, HD007, HD008, HD010, HD017, HD018, HD025, HD027, HD039 as howdah.send_batch, and then
--          nothing is sent; HD005 also if this transaction has begun no copy; HD040 the engine is paused, quiesced or
--          stopped; HD002, HD004 the missing queue or topic cannot create itself (docs/auto-creation.md); HD045 the
--          master of changes is away; HD049 a bridge with a transformation needs READ COMMITTED
--          (docs/transformations.md); HD050 a body does not keep to the contract (docs/contracts.md).
-- Role     howdah_producer howdah_admin
--
-- The arguments apply to every message, as in howdah.send_batch. If content_type is NULL, it follows from the type of
-- the bodies. The table is dropped.
create or replace function howdah.send_copied(
    queue text, reply_to text default null, time_to_live interval default null, delay interval default null,
    delivery_mode text default null, content_type text default null, notify boolean default true,
    reliability text default null
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set enable_seqscan = off set jit = off
as $$
declare
    v_type text;
    v_blocks bigint;
    v_block bigint := 0;
    v_step integer := 64;
    v_number bigint;
    v_bare boolean;
    v_sent bigint := 0;
begin
    select format_type(a.atttypid, null) into v_type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'body'
    where c.relname = 'howdah_copy' and c.relnamespace = pg_my_temp_schema() and c.relowner = current_user::regrole;
    if not found then
        raise exception using errcode = 'HD005', message = 'no copy was begun in this transaction',
            hint =
                'Call howdah.begin_copy(), COPY pg_temp.howdah_copy (body) FROM STDIN, and then this, all in one '
                'transaction.';
    end if;
    if not howdah._is_composite(queue) then
        perform howdah._destination_or_new(queue, 'send');  -- an empty load is checked, too
    end if;
    v_blocks := pg_relation_size('pg_temp.howdah_copy') / current_setting('block_size')::integer;
    v_bare := not exists (select from pg_temp.howdah_copy c
                          where num_nonnulls(c.headers, c.priority, c.correlation_id, c.message_type, c.conversation_id,
                              c.deduplication_key) > 0);
    -- 64 blocks of short bodies hold some thousand messages. Long bodies are stored out of line, so fewer blocks are
    -- read at a time. If one block holds too much, its rows are sent one by one.
    while v_block < v_blocks loop
        v_number := howdah._send_copied(queue, v_type, format('(%s,0)', v_block)::tid,
            format('(%s,65535)', v_block + v_step - 1)::tid, 33554432, reply_to, time_to_live, delay,
            coalesce(reliability, delivery_mode), content_type, notify, v_bare);
        if v_number is null and v_step > 1 then
            v_step := v_step / 8;
            continue;
        elsif v_number is null then
            select sum(howdah._send_copied(queue, v_type, c.ctid, c.ctid, null, reply_to, time_to_live, delay,
                coalesce(reliability, delivery_mode), content_type, notify, v_bare))
            into v_number
            from pg_temp.howdah_copy c
            where c.ctid between format('(%s,0)', v_block)::tid and format('(%s,65535)', v_block)::tid;
        end if;
        v_sent := v_sent + v_number;
        v_block := v_block + v_step;
        v_step := 64;
    end loop;
    drop table pg_temp.howdah_copy;
    return v_sent;
end
$$;
