"""The composite types of the SQL API, created with the metadata and frozen in the migrations."""

from __future__ import annotations

from sqlalchemy import Connection, MetaData, event

from .base import metadata

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
    dead_at timestamptz
)
"""

MESSAGE_COMMENT = """
COMMENT ON TYPE howdah.message IS
    'A message as receive and browse return it. body holds text and JSON, bytes every other body; the other one is NULL.'
"""


def _create(target: MetaData, connection: Connection, **options: object) -> None:
    connection.exec_driver_sql(MESSAGE_TYPE)
    connection.exec_driver_sql(MESSAGE_COMMENT)


def _drop(target: MetaData, connection: Connection, **options: object) -> None:
    connection.exec_driver_sql("DROP TYPE IF EXISTS howdah.message")


event.listen(metadata, "after_create", _create)
event.listen(metadata, "before_drop", _drop)
