"""The Markdown extensions of a site, read from its ``mkdocs.yml`` as MkDocs reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mkdocs.config.base import ValidationError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import ConfigurationError

from redis_transcripts.errors import TranscriptsError

_DEFAULT_EXTENSIONS = [
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "tables",
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.snippets",
    "pymdownx.superfences",
    "pymdownx.tabbed",
]


def markdown_extensions(root: Path, config_file: Path | None) -> tuple[list[str], Mapping[str, Mapping[str, Any]]]:
    """Return the extensions and the configuration of each.

    Without ``config_file`` they are a usual set for technical pages, with includes below ``root``.

    Only the ``markdown_extensions`` of the file are validated: to load the site's plugins would take longer than to
    read its pages.

    Raises:
        TranscriptsError: the file is missing, is not YAML, or names an extension that cannot be loaded.
    """
    if config_file is None:
        tabbed = {"alternate_style": True}
        return list(_DEFAULT_EXTENSIONS), {
            "pymdownx.snippets": {"base_path": [str(root)]},
            "pymdownx.tabbed": tabbed,
        }
    config = MkDocsConfig(config_file_path=str(config_file))
    option = next(option for name, option in config._schema if name == "markdown_extensions")
    try:
        with config_file.open("rb") as source:
            config.load_file(source)
        option.pre_validation(config, "markdown_extensions")
        extensions: list[str] = option.validate(config["markdown_extensions"])
        config["markdown_extensions"] = extensions
        option.post_validation(config, "markdown_extensions")
    except (OSError, ConfigurationError, ValidationError) as error:
        raise TranscriptsError(f"{config_file}: {error}") from error
    return extensions, config["mdx_configs"]
