-- howdah._sample_weight(p_found, p_from, p_at, p_last, p_length): how many messages each one found stands for.
--
-- Returns  double precision. p_found messages lie from p_from on, in a part of p_length numbers: 20 of them up to p_at,
--          or fewer up to p_last.
-- Role     internal
--
-- With 20 found, it counts 19 up to the one before the last: the estimator of inverse sampling, which is unbiased.
create or replace function howdah._sample_weight(
    p_found bigint, p_from bigint, p_at bigint, p_last bigint, p_length bigint
)
returns double precision
language sql immutable
as $$
    select p_length::double precision / p_found
        * case when p_found = 20 then 19.0 / greatest(p_at - p_from, 1)
            else p_found / (p_last - p_from + 1)::double precision end
$$;
