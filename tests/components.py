"""What a test needs that is not a Python package: missing on a contributor's machine it skips, in CI it fails."""

from __future__ import annotations

import os

import pytest


def require(condition: bool, reason: str) -> None:
    """Skip the test when ``condition`` does not hold, or fail it where ``CI`` is set; ``reason`` says the cure."""
    if condition:
        return
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
