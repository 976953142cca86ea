-- howdah._new_destination(p_name): the row of a destination with every default, not yet stored.
--
-- Returns  howdah.destinations.
-- Role     internal
create or replace function howdah._new_destination(p_name text) returns howdah.destinations
language sql volatile
as $$
    select jsonb_populate_record(null::howdah.destinations, jsonb_build_object(
        'name', p_name, 'kind', 'queue', 'is_system', false, 'auto_created', false,
        'created_at', howdah.now(), 'created_by', howdah._caller(),
        'sending_paused', false, 'receiving_paused', false, 'own_sending_paused', false, 'own_receiving_paused', false,
        'preset', 'howdah', 'dispose_at', 5, 'streak_from', 0,
        'journal_level_at', howdah.now())
        || jsonb '{"max_message_bytes": 73400320, "own_max_message_bytes": 73400320, "default_priority": 4,
            "default_time_to_live_ms": null, "journal_level": "exits",
            "message_limit": null, "byte_limit": null, "persistent": true, "default_reliability": "ASSURED_PERSISTENT",
            "max_reliability": "ASSURED_PERSISTENT", "producer_may_override": true,
            "exception_discard_reliability": "BEST_EFFORT_NONPERSISTENT", "discard_with_sender": false,
            "limit_behaviour": "reject",
            "send_timeout_ms": 30000,
            "deduplication_window_ms": 300000, "keep_results_ms": null, "stamp_user": false,
            "keep_bodies_ms": null, "last_value_key": null, "contract": null, "message_groups": "none",
            "delivery_policy": "shared", "limited": false, "rate_keys": 100}' || howdah._preset('howdah'))
$$;
