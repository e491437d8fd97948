"""The queue's scripts as the PyPI package ``bullmq`` ships them: what those of this project are compared with."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

OLD_RELEASES = ("2.7.8", "2.9.0")


def script(name: str, release: str | None = None) -> str:
    """Return the packaged script ``name``, such as ``moveToActive-11``, of the installed package or an older release.

    Raises:
        FileNotFoundError: the release is not installed, or has no such script.
    """
    return (_package(release) / "commands" / f"{name}.lua").read_text(encoding="utf-8")


def _package(release: str | None) -> Path:
    if release:
        return Path(sys.prefix, f"bullmq-{release}", "bullmq")
    found = importlib.util.find_spec("bullmq")
    if found is None or found.origin is None:
        raise FileNotFoundError("the package bullmq is not installed; run make, or pip install bullmq==3.4.4")
    return Path(found.origin).parent
