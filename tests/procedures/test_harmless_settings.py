"""Every setting of a session was tried, or is harmless for a reason."""

from __future__ import annotations

import re

from hostile_settings import HOSTILE
from support import Db, column

# By why they change no result; a server may lack some of them.
HARMLESS = {
    "which plan is made, and how much of it at once: PostgreSQL gives the same rows by each": """
        commit_siblings cpu_index_tuple_cost cpu_operator_cost effective_cache_size effective_io_concurrency
        enable_async_append enable_distinct_reordering enable_gathermerge enable_group_by_reordering
        enable_parallel_append enable_parallel_hash enable_presorted_aggregate enable_self_join_elimination
        enable_tidscan force_parallel_mode geqo_effort geqo_generations geqo_pool_size geqo_seed geqo_selection_bias
        hash_mem_multiplier io_combine_limit jit jit_expressions jit_inline_above_cost jit_optimize_above_cost
        jit_tuple_deforming maintenance_io_concurrency max_parallel_maintenance_workers max_parallel_workers
        max_parallel_workers_per_gather min_parallel_index_scan_size parallel_leader_participation seq_page_cost
        synchronize_seqscans temp_buffers vacuum_cleanup_index_scale_factor""",
    "when and how something is written or freed, never what": """
        backend_flush_after file_copy_method gin_pending_list_limit logical_decoding_work_mem maintenance_work_mem
        vacuum_buffer_usage_limit vacuum_cost_delay vacuum_cost_limit vacuum_cost_page_dirty vacuum_cost_page_hit
        vacuum_cost_page_miss vacuum_failsafe_age vacuum_freeze_min_age vacuum_freeze_table_age
        vacuum_max_eager_freeze_failure_rate vacuum_multixact_failsafe_age vacuum_multixact_freeze_min_age
        vacuum_multixact_freeze_table_age vacuum_truncate wal_skip_threshold""",
    "isolation, which the documents speak of": """
        default_transaction_isolation default_transaction_read_only transaction_deferrable transaction_isolation
        transaction_read_only""",
    "when a call or a session is given up: an error, and nothing done": """
        client_connection_check_interval exit_on_error idle_in_transaction_session_timeout idle_session_timeout
        lock_timeout restrict_nonsystem_relation_kind statement_timeout tcp_keepalives_count tcp_keepalives_idle
        tcp_keepalives_interval tcp_user_timeout transaction_timeout wal_sender_timeout""",
    "what the client and the log see of a text": """
        application_name client_encoding log_parameter_max_length_on_error operator_precedence_warning trace_notify
        trace_sort""",
    "roles, passwords, collations and libraries, none of which a function of ours makes": """
        createrole_self_grant icu_validation_level local_preload_libraries md5_password_warnings password_encryption
        scram_iterations""",
    "how old the figures of a transaction may be, which list_transactions and figures show": "stats_fetch_consistency",
    "pinned by every function that runs with the owner's rights (test_catalog.py)": "search_path",
}

TRACING = re.compile(r"debug_|trace_|log_")
"""Those of a server built to be debugged: they write to its log, or choose another plan."""


def test_every_setting_of_a_session_was_tried_or_is_harmless_for_a_reason(db: Db) -> None:
    tried = {name.lower() for group in HOSTILE.values() for name in group}
    harmless = {name for names in HARMLESS.values() for name in names.split()}
    assert not tried & harmless
    known = column(db, "select lower(name) from pg_settings where context = 'user' and strpos(name, '.') = 0")
    assert [name for name in known if name not in tried | harmless and not TRACING.match(name)] == []
