-- howdah._messages_ahead(p_subscription, p_ack, p_upto, p_limit, p_seqs): the messages that a cursor has for its
-- subscription, up to a snapshot.
--
-- Returns  as howdah._page, in reading order, at most p_limit (NULL: all): messages that are wanted and not done; with
--          p_seqs, those messages.
-- Role     internal
create or replace function howdah._messages_ahead(
    p_subscription howdah.subscriptions, p_ack howdah.acks, p_upto pg_snapshot, p_limit integer, p_seqs bigint[]
)
returns table (
    xid xid8, seq bigint, sent_at timestamptz, expires_at timestamptz, destination_id integer, rank smallint,
    is_text boolean, content_type text, body bytea, headers jsonb, correlation_id text, reply_to text,
    message_type text, conversation_id uuid, client_id text, reliability smallint, nonpersistent boolean,
    message_id bigint, done boolean, wanted boolean
)
language plpgsql volatile
as $$
declare
    v_segment record;
    v_rows integer;
    -- A message that failed is near the cursor.
    v_page integer := case when p_limit is null then 1000 else least(greatest(p_limit, 50), 1000) end;
    v_found integer := 0;
begin
    for v_segment in select * from howdah._segments(howdah._cursor(p_ack.id), p_ack.destination_id, p_upto) loop
        loop
            v_rows := 0;
            for xid, seq, sent_at, expires_at, destination_id, rank, is_text, content_type, body, headers,
                correlation_id, reply_to, message_type, conversation_id, client_id, reliability, nonpersistent,
                message_id, done, wanted in
                select p.* from howdah._page(p_subscription, p_ack, v_segment.slots, v_segment.from_xid,
                    v_segment.from_seq, v_segment.to_xid, p_upto, v_page) p
            loop
                v_rows := v_rows + 1;
                v_segment.from_xid := xid;
                v_segment.from_seq := seq;
                continue when case when p_seqs is null then done or not wanted else seq <> all (p_seqs) end;
                return next;
                v_found := v_found + 1;
                if v_found = p_limit then
                    return;
                end if;
            end loop;
            exit when v_rows < v_page;
            v_page := least(v_page * 4, 1000);
        end loop;
    end loop;
end
$$;
