"""The words and keys that a fence's header may hold, for each language."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from redis_transcripts.errors import Problem
from redis_transcripts.source import Origin

ANSWERS = {"reply": "lua", "output": "python"}
"""A fence that shows an answer, and the language of the block above it that gives it."""

# What may differ from run to run: the values of ``varies``.
_VARYING = ("id", "time", "ttl", "memory")

# A name, and whether it takes a value.
_PRESENTATION = {"title": True, "hl_lines": True}
_JUDGEMENT = {"unordered": False, "varies": True, "wrong": True, "xfail": True}
_CONDITIONS = {"fresh": False, "requires": True, "cluster": False}
_CONNECTION = {"resp": True, "client": True}
_FOLDER = {"files": True}
_COMMON = _PRESENTATION | _JUDGEMENT | _CONDITIONS
_LANGUAGES = {
    "redis": _COMMON | _CONNECTION,
    "lua": {name: value for name, value in (_COMMON | _CONNECTION).items() if name != "unordered"}
    | {"keys": True, "argv": True},
    "reply": {},
    "python": _COMMON | _FOLDER,
    "output": {},
    "console": _COMMON | _FOLDER,
}
_STATIC = _PRESENTATION | {"static": True}
_MAY_BE_STATIC_TOO = ("console",)
_MAY_BE_EMPTY = ("keys", "argv")
_NOT_RUN = ("static", "notest")

_REQUIREMENT = re.compile(r"(?P<product>redis|valkey)(?P<versions>[<>=!~].*)?")


def is_static(language: str, keys: Mapping[str, str | None]) -> bool:
    """Whether a block is shown and not run."""
    return "static" in keys and (language not in _LANGUAGES or language in _MAY_BE_STATIC_TOO)


def misuses(language: str, keys: Mapping[str, str | None], origin: Origin) -> list[Problem]:
    """Return what in the header at ``origin`` breaks the grammar."""
    if language not in _LANGUAGES and "static" not in keys:
        cure = 'say why with static="...", or write it as one of: ' + ", ".join(_LANGUAGES)
        return [Problem(origin, f"a {language} block is not run", cure)]
    names = _STATIC if is_static(language, keys) else _LANGUAGES[language]
    problems = []
    for name, value in keys.items():
        if name.startswith("fixture:") and language == "python":
            continue
        if name not in names:
            problems.append(Problem(origin, f"unknown word or key `{name}`", _cure_for_unknown(name, names, language)))
        elif names[name] and (value is None or not (value.strip() or name in _MAY_BE_EMPTY)):
            problems.append(Problem(origin, f"`{name}` has no value", f'write {name}="..."'))
        elif not names[name] and value is not None:
            problems.append(Problem(origin, f"`{name}` takes no value", f"write `{name}` alone"))
    return problems or _bad_values(keys, origin)


def meets(requirement: str, product: str, version: str) -> bool:
    """Whether a server of ``product`` and ``version`` meets a value of ``requires``.

    ``redis>=7.2`` names a product and its versions, comparisons joined by commas; several, separated by spaces, are
    alternatives.

    Raises:
        ValueError: ``requirement`` is not written so.
    """
    # Each is looked at, so that a fault behind one that is met is found as well.
    met = [_one_meets(one, product, version) for one in requirement.split()]
    return any(met)


def _one_meets(requirement: str, product: str, version: str) -> bool:
    parts = _REQUIREMENT.fullmatch(requirement)
    if not parts:
        raise ValueError(requirement)
    versions = SpecifierSet(parts["versions"] or "")
    return parts["product"] == product.lower() and version in versions


def _cure_for_unknown(name: str, names: Mapping[str, bool], language: str) -> str:
    if language in _MAY_BE_STATIC_TOO:
        names = {**names, "static": True}
    elif language in _LANGUAGES and name in _NOT_RUN:
        return f'each {language} block is checked; what cannot be run is a text block with static="why"'
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"{language} knows: {', '.join(names)}" if names else f"write it at the {ANSWERS[language]} block above"


def _bad_values(keys: Mapping[str, str | None], origin: Origin) -> list[Problem]:
    problems = []
    if keys.get("resp") not in (None, "2", "3"):
        problems.append(Problem(origin, f"resp={keys['resp']}", "write resp=2 or resp=3"))
    varies = keys.get("varies")
    # Separators alone name nothing, which is as unknown as a wrong name.
    unknown = [kind for kind in varies.replace(",", " ").split() or [varies] if kind not in _VARYING] if varies else []
    if unknown:
        fault = f"varies does not know `{unknown[0]}`"
        problems.append(Problem(origin, fault, f"write one or more of: {', '.join(_VARYING)}"))
    try:
        meets(keys.get("requires") or "", "", "0")
    except (ValueError, InvalidSpecifier):
        cure = 'write a product and its versions, as in requires="redis>=7.2"'
        problems.append(Problem(origin, f"requires does not understand `{keys['requires']}`", cure))
    if "unordered" in keys and "varies" in keys:
        cure = "split the block, or sort what varies"
        problems.append(Problem(origin, "unordered and varies in one block", cure))
    for name in _CONNECTION:
        if "cluster" in keys and name in keys:
            cure = f"a cluster has one client, which speaks RESP2; drop {name}="
            problems.append(Problem(origin, f"{name}= and cluster in one block", cure))
    return problems
