-- howdah._fingerprint(p_class, p_text, p_sqlstate): a hash that is equal for errors that differ only in their values.
--
-- Returns  16 hexadecimal digits (text): a hash of class, SQLSTATE and text. In the text, quoted values, UUIDs,
--          numbers, hexadecimal numbers and white space are folded.
-- Role     internal
--
-- It is stored with each incident, so a change here needs a migration that computes the stored ones again. An
-- apostrophe inside a word (can't) opens no quotation. Only the first 16,384 characters of a text count.
create or replace function howdah._fingerprint(p_class text, p_text text, p_sqlstate text) returns text
language plpgsql immutable parallel safe
as $$
declare
    v_text text := left(coalesce(p_text, ''), 16384);
begin
    v_text := regexp_replace(v_text, '(?<![[:alnum:]])(''[^'']*(''|$)|"[^"]*("|$)|`[^`]*(`|$))', '?', 'g');
    v_text := regexp_replace(v_text, '[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}', '?', 'g');
    v_text := regexp_replace(v_text, '0[xX][0-9a-fA-F]+|[[:<:]](?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}[[:>:]]', '?', 'g');
    v_text := regexp_replace(v_text, '[-+]?[0-9]+([.,:_][0-9]+)*([eE][-+]?[0-9]+)?', '?', 'g');
    v_text := btrim(regexp_replace(v_text, '[[:space:]]+', ' ', 'g'));
    return left(encode(sha256(convert_to(
        concat_ws(chr(10), coalesce(p_class, ''), coalesce(p_sqlstate, ''), v_text), 'UTF8')), 'hex'), 16);
end
$$;
