"""Hooks of MkDocs: a notebook's page is made from its executed copy, and has the look of every other page."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Literal

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from priority_site import notebooks
from priority_site.kernel import NotebookError

_serves = False


def on_startup(*, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    """Remember whether edits are followed: only then a build executes notebooks."""
    global _serves
    _serves = command == "serve"


@event_priority(100)
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Read notebooks from their executed copies; this comes before mkdocs-jupyter looks where they are."""
    root = Path(config.config_file_path).parent
    project = notebooks.Project(root, Path(config.docs_dir))
    address = os.environ.get("REDIS_URL")
    for file in files:
        if not file.src_uri.endswith(".ipynb"):
            continue
        notebook = Path(config.docs_dir, file.src_uri)
        try:
            if _serves and address:
                notebooks.execute(project, notebook, address)
            file.abs_src_path = str(notebooks.executed(project, notebook))
        except NotebookError as error:
            raise PluginError(str(error)) from error
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Undo what mkdocs-jupyter does to the text that ``docs/.overrides/notebook.html.j2`` makes of a notebook."""
    if not page.file.src_uri.endswith(".ipynb"):
        return markdown
    # A style sheet stands at the end, whatever the template is.
    content, _, _ = markdown.rpartition("<style>")
    return html.unescape(content)
