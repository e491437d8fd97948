"""Runs the cells of a notebook in a kernel of this Python, of which nothing is kept."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

_CELL_SECONDS = 120
_SHOWN = frozenset({"text/plain", "text/html"})
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class NotebookError(Exception):
    """A notebook has no output that could be shown. The text names the notebook and the cell, counted from 1."""


def run(notebook: Path, root: Path, address: str) -> nbformat.NotebookNode:
    """Return ``notebook`` with the outputs of its cells, run in the folder ``root`` with ``address`` as ``REDIS_URL``.

    What the user configured for IPython and Jupyter has no part in it.

    Raises:
        NotebookError: it cannot be read, a cell raises or takes too long, or pages do not show what a cell displays.
    """
    name = notebook.relative_to(root)
    try:
        content: nbformat.NotebookNode = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise NotebookError(f"{name}: cannot be read as a notebook: {error}") from error
    started: list[int] = [0]
    with tempfile.TemporaryDirectory(prefix="priority-site-") as folder:
        client = NotebookClient(
            content,
            km=AsyncKernelManager(
                transport="ipc",
                connection_file=str(Path(folder, "kernel.json")),
                kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            ),
            timeout=_CELL_SECONDS,
            record_timing=False,
            resources={"metadata": {"path": str(root)}},
            on_cell_execute=lambda cell, cell_index: started.append(cell_index + 1),
        )
        environment = {**os.environ, "IPYTHONDIR": folder, "JUPYTER_CONFIG_DIR": folder, "REDIS_URL": address}
        try:
            client.execute(cleanup_kc=True, env=environment)
        except CellExecutionError as error:
            raise NotebookError(f"{name}, cell {started[-1]}: {_last_line(error)}") from error
        except CellTimeoutError as error:
            raise NotebookError(f"{name}, cell {started[-1]}: still running after {_CELL_SECONDS} s") from error
        except DeadKernelError as error:
            raise NotebookError(f"{name}, cell {started[-1]}: the cell ended its kernel") from error
    _require_showable(content, name)
    return content


def _last_line(error: CellExecutionError) -> str:
    lines = _COLOUR.sub("", f"{error.ename}: {error.evalue}").strip().splitlines()
    return lines[-1]


def _require_showable(content: nbformat.NotebookNode, name: Path) -> None:
    for number, cell in enumerate(content.cells, start=1):
        for output in cell.get("outputs", []):
            unknown = sorted(output.get("data", {}).keys() - _SHOWN)
            if unknown:
                raise NotebookError(
                    f"{name}, cell {number}: pages do not show {unknown[0]}; "
                    "print text, or display HTML that holds SVG with a title"
                )
