"""What the files of functions say once and the installed text says several times: loops, and lists of columns."""

from __future__ import annotations

import re

SLOTS = (0, 1, 2)
"""The numbers of the tables that topic messages go round in."""

BODIES = (
    {"BODY_TYPE": "text", "BODY_VALUE": "send.body", "IS_TEXT": "true", "MEDIA_TYPE": "text/plain"},
    {"BODY_TYPE": "jsonb", "BODY_VALUE": "send.body::text", "IS_TEXT": "true", "MEDIA_TYPE": "application/json"},
    {"BODY_TYPE": "bytea", "BODY_VALUE": "send.body", "IS_TEXT": "false", "MEDIA_TYPE": "application/octet-stream"},
)
"""The types of a body that can be sent: its text or bytes, whether it is text, and its content type by default."""

MODES = (
    {
        "MODE": "persistent",
        "MODE_NAME": "persistent",
        "MODE_TABLE": "topic_msgs",
        "MODE_HOLDS": "true",
        "MODE_FLAG": "false",
        "OF_MODE ": "not ",
    },
    {
        "MODE": "nonpersistent",
        "MODE_NAME": "non-persistent",
        "MODE_TABLE": "topic_nonpersistent",
        "MODE_HOLDS": "t.boot = pg_postmaster_start_time()",
        "MODE_FLAG": "true",
        "OF_MODE ": "",
    },
)
"""The delivery modes of topic messages, which have tables of their own.

MODE_HOLDS: a non-persistent message t counts only if it was stored since the server started. MODE_FLAG: whether it is
non-persistent. "OF_MODE p" tells by p, a flag of that kind.
"""

_EACH_TABLE = re.compile(
    r"^ *-- for N in 0, 1, 2, MODE in persistent, nonpersistent:\n(.*?)^ *-- end for\n", re.MULTILINE | re.DOTALL
)
_EACH_SLOT = re.compile(r"^ *-- for N in 0, 1, 2:\n(.*?)^ *-- end for\n", re.MULTILINE | re.DOTALL)
_EACH_BODY = re.compile(r"^-- for BODY_TYPE in text, jsonb, bytea:\n(.*?)^-- end for\n", re.MULTILINE | re.DOTALL)

_EACH_STORE = re.compile(r"^-- for STORE in ([\w, ]+):\n(.*?)^-- end for\n", re.MULTILINE | re.DOTALL)

_FIRST = re.compile(r"^( *)FIRST_DELIVERY_OF (\w+)( ELSE .+)?$", re.MULTILINE)
_CONTENT = re.compile(r"^( *)CONTENT_OF (\w+)(?: ELSE (.+))?,$", re.MULTILINE)
_ORIGIN = re.compile(r"^( *)ORIGIN_OF (\w+),$", re.MULTILINE)

_LEASED_MESSAGE = """\
    lease bigint, leased_until timestamptz, message_id bigint, queue_name text, body text, bytes bytea,
    content_type text, headers jsonb, priority integer, correlation_id text, reply_to text, message_type text,
    conversation_id uuid, delivery_mode text, sent_at timestamptz,
    expires_at timestamptz, delivery_count integer, redelivered boolean, "position" bigint, stage integer,
    origin_queue text, dead_reason text, dead_at timestamptz, reliability text
"""
"""The columns of a leased message: its lease, and those of howdah.message."""


def render(text: str) -> str:
    """The text as it is installed: its loops unrolled, and its lines CONTENT_OF and ORIGIN_OF written out.

    A loop goes over each table of the ring (its number in place of N), or each type of a body. A loop over MODE too has
    each table of either delivery mode. A statement locks each table that it names, and a locked table cannot be
    emptied, so there is one for each table. A loop over STORE has the tables that its first line lists.

    ``LEASED_MESSAGE`` stands for the columns of a leased message. ``FIRST_DELIVERY_OF m`` stands for the columns of
    howdah.message from body on, of a persistent message m that is delivered for the first time.

    ``CONTENT_OF m,`` stands for the columns of howdah.message from body to conversation_id, out of the stored row m.
    ELSE says where the body is if it is stored apart. ``ORIGIN_OF m,`` stands for the columns from stage to dead_at. A
    function for them would cost 2 % of a receive: PostgreSQL then takes each column out of a composite value.
    """
    text = _EACH_BODY.sub(lambda loop: "".join(_with_body(loop[1], body) for body in BODIES), text)
    text = _EACH_STORE.sub(lambda loop: "".join(loop[2].replace("STORE", store) for store in loop[1].split(", ")), text)
    text = _EACH_TABLE.sub(lambda loop: "".join(_with_table(loop[1], slot) for slot in SLOTS), text)
    text = _EACH_SLOT.sub(lambda loop: "".join(_with_slot(loop[1], slot) for slot in SLOTS), text)
    text = _FIRST.sub(_first, text.replace("    LEASED_MESSAGE\n", _LEASED_MESSAGE))
    return _ORIGIN.sub(_origin, _CONTENT.sub(_content, text))


def _first(line: re.Match[str]) -> str:
    indent, row, apart = line.groups(default="")
    return (
        f"{indent}CONTENT_OF {row}{apart},\n"
        f"{indent}'persistent', {row}.sent_at, {row}.expires_at, 1, false, {row}.seq,\n"
        f"{indent}ORIGIN_OF {row},\n"
        f"{indent}case when {row}.reliability is null then 'ASSURED_PERSISTENT' else 'RELIABLE_PERSISTENT' end"
    )


def _content(line: re.Match[str]) -> str:
    indent, row, apart = line.groups()
    body = f"coalesce({row}.body, {apart})" if apart else f"{row}.body"
    return (
        f"{indent}case when {row}.is_text then convert_from({body}, 'UTF8') end,\n"
        f"{indent}case when not {row}.is_text then {body} end,\n"
        f"{indent}{row}.content_type, {row}.headers, 9 - {row}.rank, {row}.correlation_id, {row}.reply_to,\n"
        f"{indent}{row}.message_type, {row}.conversation_id,"
    )


def _origin(line: re.Match[str]) -> str:
    indent, row = line.groups()
    return (
        f"{indent}{row}.stage::integer,\n"
        f"{indent}case when {row}.origin_id is not null then howdah._destination_name({row}.origin_id) end,\n"
        f"{indent}{row}.dead_reason, {row}.dead_at,"
    )


def _with_slot(text: str, slot: int) -> str:
    return re.sub(r"(?<![A-Za-z0-9])N\b", str(slot), text)


def _with_table(text: str, slot: int) -> str:
    return "".join(_with_slot(_replaced(text, mode), slot) for mode in MODES)


def _with_body(text: str, body: dict[str, str]) -> str:
    encoded = "convert_to(BODY_VALUE, 'UTF8')" if body["IS_TEXT"] == "true" else "BODY_VALUE"
    return _replaced(text.replace("BODY_BYTES", encoded), body)


def _replaced(text: str, meanings: dict[str, str]) -> str:
    longest_first = "|".join(sorted(meanings, key=len, reverse=True))
    return re.sub(longest_first, lambda word: meanings[word[0]], text)
