"""What stands before a typed line."""

from __future__ import annotations

import re

PROMPT = re.compile(r"^(?:(?:redis|valkey|[\w.-]+:\d+)(?:\[\d+\])?(?:\(TX\))?)?> ")
"""``> ``, ``redis> ``, ``127.0.0.1:6379> ``, and redis-cli's forms after SELECT (``[3]``) and in MULTI (``(TX)``)."""


def without_prompt(line: str) -> str:
    """Return what is typed in ``line``, or the line itself when it has no prompt."""
    prompt = PROMPT.match(line)
    return line[prompt.end() :] if prompt else line
