"""The composite types of the SQL API, created after the tables."""

from __future__ import annotations

from .base import after_create, metadata

MESSAGE_TYPE = """
CREATE TYPE howdah.message AS (
    message_id bigint,
    queue text,
    body text,
    bytes bytea,
    content_type text,
    headers jsonb,
    priority integer,
    correlation_id text,
    reply_to text,
    message_type text,
    conversation_id uuid,
    delivery_mode text,
    sent_at timestamptz,
    expires_at timestamptz,
    delivery_count integer,
    redelivered boolean,
    "position" bigint,
    stage integer,
    origin_queue text,
    dead_reason text,
    dead_at timestamptz,
    reliability text
)
"""

MESSAGE_COMMENT = """
COMMENT ON TYPE howdah.message IS
    'A message as receive and browse return it. body holds text and JSON, bytes any other body; the other one is NULL.'
"""

CLAIMED_TYPE = """
CREATE TYPE howdah.claimed AS (
    seq bigint, message_id bigint, sent_at timestamptz, expires_at timestamptz, dead_at timestamptz,
    destination_id integer, origin_id integer, rank smallint, stage smallint, is_text boolean, content_type text,
    body bytea, headers jsonb, correlation_id text, reply_to text, message_type text, conversation_id uuid,
    dead_reason text, reliability smallint, place text, nonpersistent boolean
)
"""

CLAIMED_COMMENT = """
COMMENT ON TYPE howdah.claimed IS
    'A row of msgs with the place it was taken from: msgs, msgs_nonpersistent or parked. Internal.'
"""

WALK_TYPE = """
CREATE TYPE howdah.walk AS (
    admitted boolean, groups text, consumer integer, selector text, condition text, share text, hold boolean
)
"""

WALK_COMMENT = """
COMMENT ON TYPE howdah.walk IS
    'How a receive walks through a queue from which it cannot simply take in order: '
    'by message groups, a selector, a consumer. Internal.'
"""


for _statement in (MESSAGE_TYPE, MESSAGE_COMMENT, CLAIMED_TYPE, CLAIMED_COMMENT, WALK_TYPE, WALK_COMMENT):
    after_create(metadata, _statement)
