-- howdah.begin_copy(body_type): create the temporary table pg_temp.howdah_copy, to copy messages into before
-- howdah.send_copied sends them.
--
-- Returns  the table's name (regclass).
-- Raises   HD005 body_type is not text, jsonb or bytea, or this transaction has begun a copy already; 42501 the owner
--          of Howdah may not create temporary tables.
-- Role     howdah_producer howdah_admin
--
-- This is for loads of millions of messages: COPY pg_temp.howdah_copy (body) FROM STDIN, or psql's \copy.
--
-- The columns are body, headers (jsonb), priority, correlation_id, message_type, conversation_id and deduplication_key.
-- They mean what they mean in howdah.send_batch, and so do columns that are left out. The table is dropped at the end
-- of the transaction.
--
-- Howdah owns the table and the caller may only insert. So no trigger, rule or default of the caller's can run with the
-- owner's rights.
create or replace function howdah.begin_copy(body_type text default 'text') returns regclass
language plpgsql volatile security definer set search_path = pg_catalog, howdah, pg_temp
    set client_min_messages = warning set temp_tablespaces = '' set default_table_access_method = heap
as $$
begin
    if to_regclass('pg_temp.howdah_copy') is not null then
        raise exception using errcode = 'HD005', message = 'a copy is under way in this transaction',
            hint =
                'End it with howdah.send_copied(queue), which sends it. A temporary table of your own must not be '
                'called howdah_copy.';
    elsif (body_type in ('text', 'jsonb', 'bytea')) is not true then
        raise exception using errcode = 'HD005',
            message = format('body_type must be text, jsonb or bytea, not %s',
                coalesce(quote_literal(body_type), 'NULL'));
    end if;
    create temporary table howdah_copy (body text, headers jsonb, priority integer, correlation_id text,
        message_type text,
        conversation_id uuid, deduplication_key text) on commit drop;
    if body_type = 'jsonb' then
        alter table pg_temp.howdah_copy alter body type jsonb using null;
    elsif body_type = 'bytea' then
        alter table pg_temp.howdah_copy alter body type bytea using null;
    end if;
    -- "Public" is this session alone, whatever role it takes: no other session can reach its temporary tables.
    grant insert on pg_temp.howdah_copy to public;
    return 'pg_temp.howdah_copy'::regclass;
end
$$;
