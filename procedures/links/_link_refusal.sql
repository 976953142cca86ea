-- howdah._link_refusal(p_sqlstate): what an error says of a message that came over a link.
--
-- Returns  text: failed (it counts as a failure of the message), rejected (another try cannot help), or NULL if the
--          message is not to blame, and waits until the error is gone.
-- Role     internal
--
-- A message that is too large, that breaks the queue's contract, or whose level is above the queue's highest, is
-- rejected. A paused or full queue, a halted engine, a missing right, an older snapshot and a restored database are
-- not the message's fault. Only errors of the message's own data are, and what this engine has no place for.
--
-- By PostgreSQL's classes: a CASE without an answer (20), more rows than one (21), data (22), constraints (23), a
-- function without RETURN (2F), errors of PL/Python, PL/Perl and the like (38, 39), limits of a program (54), and
-- PL/pgSQL's own (P0).
create or replace function howdah._link_refusal(p_sqlstate text) returns text
language sql immutable
as $$
    select case when p_sqlstate in ('HD008', 'HD010', 'HD018', 'HD025', 'HD027', 'HD040', 'HD049') then null
        when p_sqlstate in ('HD007', 'HD039', 'HD050') then 'rejected'
        when substr(p_sqlstate, 1, 2) in ('HD', '20', '21', '22', '23', '2F', '38', '39', '54', 'P0') then 'failed' end
$$;
