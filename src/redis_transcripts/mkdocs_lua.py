"""A hook of MkDocs: each script in the folder ``lua`` is a file of the site, in one piece and ready to load.

``lua/<name>.lua`` of the site holds the site's ``copyright`` as a comment, then the script with its includes resolved.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from redis_transcripts import lua
from redis_transcripts.errors import PageError

FOLDER = "lua"
"""The folder beside ``mkdocs.yml`` that holds the scripts. Those in folders of it are for including only."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the scripts to the files of the site.

    Raises:
        PluginError: an include of a script cannot be resolved; the text names file and line, and the cure.
    """
    root = Path(config.config_file_path).absolute().parent
    # A file that several scripts include is at fault once.
    problems: dict[str, None] = {}
    for path in sorted((root / FOLDER).glob("*.lua")):
        try:
            content = published(path, root, config.copyright)
        except PageError as error:
            problems |= dict.fromkeys(map(str, error.problems))
        else:
            files.append(File.generated(config, f"{FOLDER}/{path.name}", content=content))
    if problems:
        raise PluginError("\n".join(problems))
    return files


def published(path: Path, root: Path, licence: str | None) -> str:
    """Return what the site offers of the script at ``path``, a file of the project at ``root``.

    Raises:
        PageError: an include cannot be resolved.
    """
    first = [f"-- {' '.join(licence.split())}"] if licence else []
    return "\n".join([*first, *lua.read(path, root).lines, ""])
