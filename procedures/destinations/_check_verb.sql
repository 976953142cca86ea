-- howdah._check_verb(p_verb): refuse a word that is no verb of a right.
--
-- Raises   HD005 no such verb.
-- Role     internal
create or replace function howdah._check_verb(p_verb text) returns void
language plpgsql immutable
as $$
begin
    if p_verb is null or p_verb not in ('send', 'receive', 'browse', 'admin', 'pass_all', 'set_all') then
        raise exception using errcode = 'HD005', message = format('there is no verb %s',
            coalesce(quote_literal(p_verb), 'NULL')),
            hint = 'Verbs are: send, receive, browse, admin, pass_all, set_all.';
    end if;
end
$$;
