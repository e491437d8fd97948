"""The Redis commands that pages use, and where: what is typed, what scripts call, and what Python sends.

They are found by reading, not by running, so that each has its line.
"""

from __future__ import annotations

import ast
import logging
import re
import subprocess
import threading
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import nbformat

from redis_transcripts import examples, lua
from redis_transcripts.examples import ConsoleExample, Example, LuaExample, PythonExample, RedisExample
from redis_transcripts.markdown import PageReader
from redis_transcripts.source import Origin, SourceLine, display_path

# redis.call in Lua, under any name that ends in "call": a script may have given it a shorter one.
_LUA_CALL = re.compile(r"""call\(\s*(?P<q>["'])(?P<name>\w+)(?P=q)(?:\s*,\s*(?P<p>["'])(?P<subcommand>\w+)(?P=p))?""")
_REDIS_CLI = re.compile(r"\bredis-cli\b(?P<rest>.*)")

# Methods of redis-py that are not called as the commands they send.
_SENT_BY = {"delete": ("DEL",), "register_script": ("EVALSHA", "SCRIPT LOAD"), "pipeline": ("MULTI", "EXEC")}
_MAKES_A_CLIENT = {"Redis", "RedisCluster", "StrictRedis", "from_url", "pipeline"}
_CLIENT_TYPES = re.compile(r"\b(?:Redis|RedisCluster|StrictRedis|Pipeline)\b")
# What other objects have too, such as `get`, `set` and `exists`, counts on a client alone.
_NOT_ONLY_OF_REDIS = {
    name
    for kind in (
        str,
        list,
        dict,
        set,
        Path,
        datetime,
        re.Match,
        threading.Event,
        subprocess.Popen,
        logging.Logger,
        time,
    )
    for name in dir(kind)
}


@dataclass(frozen=True, slots=True)
class Use:
    """A command, such as ``ZADD`` or ``OBJECT ENCODING``, and the line that uses it."""

    command: str
    origin: Origin


def of_page(page: Path, reader: PageReader, lua_folder: Path, known: AbstractSet[str]) -> list[Use]:
    """Return the uses in the examples of ``page``, in order; a word that is not a ``known`` command is none.

    Raises:
        PageError: the page cannot be run as it is written.
    """
    clients: set[str] = set()
    found = examples.read(reader, page, lua_folder)
    return [use for example in found for use in _of_example(example, known, clients)]


def of_notebook(notebook: Path, root: Path, known: AbstractSet[str]) -> list[Use]:
    """Return the uses in the code of ``notebook``; their lines are those of the cell."""
    uses: list[Use] = []
    clients: set[str] = set()
    cells = nbformat.read(notebook, as_version=4).cells  # type: ignore[no-untyped-call]
    for number, cell in enumerate(cells, 1):
        if cell.cell_type == "code":
            lines = _numbered(cell.source, f"{display_path(notebook, root)}, cell {number}")
            uses += [*_sent(lines, known, clients), *_called(lines, known)]
    return uses


def of_file(path: Path, root: Path, known: AbstractSet[str]) -> list[Use]:
    """Return the uses in a Lua or Python file.

    Raises:
        PageError: the Lua file cannot be read, or includes what is not there.
    """
    if path.suffix == ".lua":
        return _called(lua.read(path, root).lines, known)
    lines = _numbered(path.read_text(encoding="utf-8"), display_path(path, root))
    return [*_sent(lines, known, set()), *_called(lines, known)]


def _of_example(example: Example, known: AbstractSet[str], clients: set[str]) -> list[Use]:
    match example:
        case RedisExample():
            return [
                use
                for step in example.steps
                for use in [*_named(step.arguments, known, step.typed.origin), *_called([step.typed], known)]
            ]
        case LuaExample():
            return _called(example.script.lines, known)
        case PythonExample():
            lines = example.block.lines
            return [*_sent(lines, known, clients), *_called(lines, known)]
        case ConsoleExample():
            return _typed_in_a_shell([command.typed for command in example.commands], known)


def _named(words: Sequence[bytes | str], known: AbstractSet[str], origin: Origin) -> list[Use]:
    """The command that ``words`` begin with: two words where the first is a family, such as OBJECT."""
    texts = [word if isinstance(word, str) else word.decode(errors="replace") for word in words[:2]]
    for length in (2, 1):
        name = " ".join(texts[:length]).upper()
        if name in known:
            return [Use(name, origin)]
    return []


def _called(lines: Sequence[SourceLine], known: AbstractSet[str]) -> list[Use]:
    """What Lua among ``lines`` calls."""
    text = "\n".join(lines)
    uses: list[Use] = []
    for call in _LUA_CALL.finditer(text):
        line = lines[text.count("\n", 0, call.start("name"))]
        uses += _named([call["name"], call["subcommand"] or ""], known, line.origin)
    return uses


def _typed_in_a_shell(lines: Sequence[SourceLine], known: AbstractSet[str]) -> list[Use]:
    """What is given to redis-cli on its command line; what comes before the command are its options."""
    uses: list[Use] = []
    for line in lines:
        if cli := _REDIS_CLI.search(line):
            words = [word.strip("'\"") for word in cli["rest"].split()]
            commands = (_named(words[start:], known, line.origin) for start in range(len(words)))
            uses += next(filter(None, commands), [])
    return uses


def _sent(lines: Sequence[SourceLine], known: AbstractSet[str], clients: set[str]) -> list[Use]:
    """What the Python of ``lines`` sends; the names that it gives to clients are added to ``clients``."""
    tree = ast.parse("\n".join(lines))
    while not (names := _names_of_clients(tree, clients)) <= clients:
        clients |= names
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    uses = [
        use for call in calls for use in _sent_by(call, known, clients, lines[(call.func.end_lineno or 1) - 1].origin)
    ]
    return sorted(uses, key=lambda use: (use.origin.path, use.origin.line))


def _sent_by(call: ast.Call, known: AbstractSet[str], clients: AbstractSet[str], origin: Origin) -> list[Use]:
    assert isinstance(call.func, ast.Attribute)
    method = call.func.attr
    if method in _NOT_ONLY_OF_REDIS and not _is_client(call.func.value, clients):
        return []
    if method == "pipeline" and any(word.arg == "transaction" for word in call.keywords):
        return []
    if method in _SENT_BY:
        return [Use(command, origin) for command in _SENT_BY[method] if command in known]
    words = [part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if method == "execute_command":
        return _named(" ".join(words[:2]).split(), known, origin)
    return _named([method, *words], known, origin) or _named(method.split("_", 1), known, origin)


def _names_of_clients(tree: ast.AST, clients: AbstractSet[str]) -> set[str]:
    """The names and attributes that hold a client, given that those in ``clients`` do."""
    found: list[ast.expr] = []
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value) if _is_client(value, clients):
                found += targets
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target) if _is_client(value, clients):
                found.append(target)
            case ast.arg(arg=name, annotation=ast.expr() as annotation) if _CLIENT_TYPES.search(
                ast.unparse(annotation)
            ):
                names.add(name)
    return names | set(filter(None, map(_last_name, found)))


def _is_client(node: ast.expr, clients: AbstractSet[str]) -> bool:
    if isinstance(node, ast.Call):
        return _last_name(node.func) in _MAKES_A_CLIENT
    return _last_name(node) in clients


def _last_name(node: ast.expr) -> str:
    """``b`` of ``a.b`` and of ``b``; of any other expression nothing."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _numbered(text: str, name: str) -> list[SourceLine]:
    return [SourceLine(line, Origin(name, number)) for number, line in enumerate(text.split("\n"), 1)]
