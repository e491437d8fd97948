"""What users of the Makefile rely on: the Python it finds, the environment it keeps, and what it installs there.

Each test runs the real Makefile on a machine of its own: PATH holds the tools that the recipes need and nothing else,
HOME is empty, and Pythons are shell scripts. Nothing is downloaded, and the machine's own Pythons are out of sight.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import packaged
import pytest
from components import require
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
DOCUMENTED = frozenset(re.findall(r"^([\w.-]+):.*##", MAKEFILE, re.MULTILINE))
WITHOUT_ENVIRONMENT = frozenset({"help", "clean", "python"})
REAL_PYTHON: str = vars(sys)["_base_executable"]

TOOLS = ("make", "sh", "rm", "find", "sed", "awk", "touch", "mkdir", "cp")
NAMES_ON_PATH = ("python3.12", "python3.13", "python3.14", "python3", "python")
LABELLED = "import sys; sys._base_executable = {label!r}; {before}; exec(sys.argv[1])"


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def good_python(path: Path, before: str = "pass") -> Path:
    """A Python that answers ``-c code`` as one installed at ``path`` does, after the statement ``before``."""
    code = LABELLED.format(label=str(path), before=before)
    return script(path, f'exec {shlex.quote(REAL_PYTHON)} -I -c {shlex.quote(code)} "$2"')


def broken_shim(path: Path) -> Path:
    return script(path, "echo 'pyenv: python3.12: command not found' >&2; exit 127")


def old_python(path: Path) -> Path:
    return good_python(path, before="sys.version_info = (3, 11, 9, 'final', 0)")


def python_without_ensurepip(path: Path) -> Path:
    """The Python of a Debian or Ubuntu without the package python3-venv."""
    return good_python(path, before="sys.modules['ensurepip'] = None")


def absent(path: Path) -> Path:
    return path


UNUSABLE = pytest.mark.parametrize("unusable", [broken_shim, old_python, python_without_ensurepip])


class Machine:
    """A machine with a checkout of the Makefile, and with nothing on PATH but a few tools and what a test adds."""

    def __init__(self, folder: Path, checkout: str = "checkout") -> None:
        self.folder = folder
        self.checkout = folder / checkout
        self.checkout.mkdir()
        (self.checkout / "Makefile").write_text(MAKEFILE, encoding="utf-8")
        self.home = folder / "home"
        self.home.mkdir()
        self.pyenv_root = folder / "pyenv"
        self.path = [folder / "tools"]
        for tool in TOOLS:
            add_tool(self.path[0], tool)

    def environment(self, **variables: str) -> dict[str, str]:
        path = os.pathsep.join(map(str, self.path))
        return {"PATH": path, "HOME": str(self.home), "PYENV_ROOT": str(self.pyenv_root), "LC_ALL": "C"} | variables

    def make(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.folder / "tools" / "make"), *arguments]
        return run(command, self.checkout, self.environment(**variables))

    def on_path(self, name: str, folder: str = "bin") -> Path:
        """A path for a program in a PATH folder; a new folder goes behind those that are there."""
        place = self.folder / folder
        if place not in self.path:
            self.path.append(place)
        return place / name

    def in_pyenv(self, version: str = "3.12.1", root: Path | None = None) -> Path:
        return (root or self.pyenv_root) / "versions" / version / "bin" / "python3"

    @property
    def uv_calls(self) -> list[str]:
        return lines_of(self.folder / "uv-calls")

    def add_uv(self, found: Path, *, install_status: int = 0) -> None:
        """Put ``uv`` on PATH: as the real one does, it finds an environment in the checkout before its own Python."""
        calls = shlex.quote(str(self.folder / "uv-calls"))
        body = f"""echo "$*" >>{calls}
case "$*" in
  "python install "*) exit {install_status} ;;
  "python find "*)
    if [ "$UV_PYTHON_PREFERENCE" != only-managed ] && [ -x .venv/bin/python ]; then
      echo .venv/bin/python
    else
      echo {shlex.quote(str(found))}
    fi ;;
  *) exit 2 ;;
esac"""
        script(self.on_path("uv"), body)


def add_tool(folder: Path, tool: str) -> None:
    program = shutil.which(tool)
    assert program is not None, f"{tool} is not on PATH"
    folder.mkdir(exist_ok=True)
    (folder / tool).symlink_to(program)


def run(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30
    )


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What a target wrote to stderr, without make's own line about the target that failed."""
    return [line for line in done.stderr.splitlines() if not re.match(r"make: \*\*\* ", line)]


def found(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    assert said(done) == []
    return done.stdout.removesuffix("\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


# The Python that make finds


def test_a_given_python_is_taken_before_any_other(machine: Machine) -> None:
    given = good_python(machine.folder / "given python")
    for other in (machine.on_path("python3.12"), machine.in_pyenv()):
        good_python(other)
    machine.add_uv(good_python(machine.folder / "of-uv"))
    assert found(machine.make("python", f"PYTHON={given}")) == str(given)
    assert found(machine.make("python", PYTHON=str(given))) == str(given)


@pytest.mark.parametrize("unusable", [broken_shim, old_python, python_without_ensurepip, absent])
def test_an_unusable_given_python_is_named_in_one_line_and_nothing_else_is_tried(
    machine: Machine, unusable: Callable[[Path], Path]
) -> None:
    good_python(machine.on_path("python3.12"))
    given = unusable(machine.folder / "given")
    done = machine.make("python", f"PYTHON={given}")
    assert done.returncode != 0
    assert done.stdout == ""
    assert len(said(done)) == 1
    assert str(given) in said(done)[0]


def test_path_comes_before_pyenv_and_uv(machine: Machine) -> None:
    wanted = good_python(machine.on_path("python3.12"))
    good_python(machine.in_pyenv())
    machine.add_uv(good_python(machine.folder / "of-uv"))
    assert found(machine.make("python")) == str(wanted)
    assert machine.uv_calls == []


@pytest.mark.parametrize("name", NAMES_ON_PATH)
def test_a_python_on_path_is_found_by_any_of_its_names(machine: Machine, name: str) -> None:
    wanted = good_python(machine.on_path(name))
    assert found(machine.make("python")) == str(wanted)


@UNUSABLE
def test_a_later_path_folder_is_searched_behind_an_unusable_python(
    machine: Machine, unusable: Callable[[Path], Path]
) -> None:
    unusable(machine.on_path("python3.12", "first"))
    wanted = good_python(machine.on_path("python3.12", "a second"))
    assert found(machine.make("python")) == str(wanted)


@UNUSABLE
def test_pyenv_is_searched_when_no_python_on_path_is_usable(machine: Machine, unusable: Callable[[Path], Path]) -> None:
    for name in NAMES_ON_PATH:
        unusable(machine.on_path(name))
    wanted = good_python(machine.in_pyenv())
    machine.add_uv(good_python(machine.folder / "of-uv"))
    assert found(machine.make("python")) == str(wanted)
    assert machine.uv_calls == []


def test_pyenv_versions_that_are_too_old_or_broken_are_passed_over(machine: Machine) -> None:
    good_python(machine.in_pyenv("3.9.18"), before="sys.version_info = (3, 9, 18, 'final', 0)")
    old_python(machine.in_pyenv("3.11.9"))
    broken_shim(machine.in_pyenv("3.12.1"))
    wanted = good_python(machine.in_pyenv("3.13.0"))
    assert found(machine.make("python")) == str(wanted)


def test_pyenv_is_looked_for_at_home_when_nothing_says_where_it_is(machine: Machine) -> None:
    wanted = good_python(machine.in_pyenv(root=machine.home / ".pyenv"))
    assert found(machine.make("python", PYENV_ROOT="")) == str(wanted)


@UNUSABLE
def test_uv_fetches_a_python_when_none_is_usable(machine: Machine, unusable: Callable[[Path], Path]) -> None:
    unusable(machine.on_path("python3.12"))
    unusable(machine.in_pyenv())
    wanted = good_python(machine.folder / "of uv" / "python3.12")
    machine.add_uv(wanted)
    assert found(machine.make("python")) == str(wanted)
    assert [call.split()[:2] for call in machine.uv_calls] == [["python", "install"], ["python", "find"]]
    assert all("3.12" in call.split() for call in machine.uv_calls)


def test_the_python_that_uv_fetched_is_taken_though_an_unusable_environment_is_in_the_checkout(
    machine: Machine,
) -> None:
    python_without_ensurepip(machine.checkout / ".venv" / "bin" / "python")
    wanted = good_python(machine.folder / "of-uv")
    machine.add_uv(wanted)
    assert found(machine.make("python")) == str(wanted)


@pytest.mark.parametrize("uv", ["without uv", "with a uv that cannot download"])
def test_one_line_says_what_to_install_when_there_is_no_python(machine: Machine, uv: str) -> None:
    if uv != "without uv":
        machine.add_uv(good_python(machine.folder / "of-uv"), install_status=1)
    done = machine.make("python")
    assert done.returncode != 0
    assert done.stdout == ""
    assert len(said(done)) == 1
    for word in ("install", "python3.12", "venv", "uv", "PYTHON="):
        assert word in said(done)[0]


@pytest.mark.parametrize("how", ["on PATH", "given"])
def test_an_active_virtual_environment_yields_the_python_it_was_made_with(machine: Machine, how: str) -> None:
    active = machine.folder / "active"
    subprocess.run([REAL_PYTHON, "-m", "venv", "--without-pip", str(active)], check=True)
    if how == "on PATH":
        machine.path.insert(0, active / "bin")
        chosen = found(machine.make("python", VIRTUAL_ENV=str(active)))
    else:
        chosen = found(machine.make("python", f"PYTHON={active / 'bin' / 'python'}"))
    assert not Path(chosen).is_relative_to(active)
    assert Path(chosen).samefile(REAL_PYTHON)


# The environment that make keeps


class Project(Machine):
    """A machine with a small project, whose Pythons write down how they are called and do nothing else."""

    def __init__(self, folder: Path, checkout: str = "checkout") -> None:
        super().__init__(folder, checkout)
        self.inputs = {name: self.checkout / name for name in ("pyproject.toml", "constraints.txt")}
        for file in self.inputs.values():
            file.touch()
        self.python = self.checkout / ".venv" / "bin" / "python"
        self.log = folder / "calls"
        self.refused = folder / "refused"
        inner = script(folder / "environment's python", self._recorder("environment", "exit"))
        make_environment = f"rm -rf .venv && mkdir -p .venv/bin && cp {shlex.quote(str(inner))} .venv/bin/python"
        script(
            self.on_path("python3.12", "folder of Pythons"),
            f"{self._recorder('outer', 'echo "$0"; exit')}\n{make_environment}",
        )

    def _recorder(self, who: str, answer: str) -> str:
        log, refused = shlex.quote(str(self.log)), shlex.quote(str(self.refused))
        return f"""if [ "$1" = -c ]; then {answer}; fi
echo "{who} $*" >>{log}
if [ -e {refused} ]; then
  read -r pattern <{refused}
  case "$*" in *"$pattern"*) echo refused >&2; exit 1 ;; esac
fi"""

    def calls_of(self, *arguments: str, fails: bool = False) -> list[str]:
        """Run make and return how it called the Pythons."""
        self.log.unlink(missing_ok=True)
        done = self.make(*arguments)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return lines_of(self.log)

    def build_long_ago(self) -> None:
        self.calls_of("site")
        for file in self.inputs.values():
            set_age(file, 100)
        set_age(self.checkout / ".venv" / "complete", 50)


def set_age(file: Path, seconds: int) -> None:
    moment = time.time() - seconds
    os.utime(file, (moment, moment))


def is_build(calls: list[str]) -> bool:
    """Whether the calls make a new environment, install everything that is pinned, and then do a target's work."""
    venv, *rest = calls
    pip = [call for call in rest if call.startswith("environment -m pip install ")]
    work = rest[len(pip) :]
    # Old releases, whose scripts alone are wanted, are pinned where they are named.
    apart = [call for call in pip if " --no-deps --target .venv/bullmq-" in call]
    own = [call for call in pip if call not in apart]
    return (
        venv == "outer -m venv --clear .venv"
        and rest[: len(pip)] == own + apart
        and all("--constraint constraints.txt" in call for call in own)
        and "--editable . --group dev" in own[-1]
        and [call.rpartition(" ")[2] for call in apart] == [f"bullmq=={release}" for release in packaged.OLD_RELEASES]
        and is_work_only(work)
    )


def is_work_only(calls: list[str]) -> bool:
    return calls != [] and all(call.startswith("environment ") and " pip " not in call for call in calls)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize("target", sorted(DOCUMENTED - WITHOUT_ENVIRONMENT))
def test_the_first_target_creates_the_environment_and_the_next_one_uses_it(project: Project, target: str) -> None:
    assert is_build(project.calls_of(target))
    assert is_work_only(project.calls_of(target))
    assert is_work_only(project.calls_of("site"))


@pytest.mark.parametrize("target", sorted(WITHOUT_ENVIRONMENT))
def test_targets_that_need_no_environment_create_none(project: Project, target: str) -> None:
    assert project.calls_of(target) == []
    assert not (project.checkout / ".venv").exists()


def test_a_checkout_path_may_contain_spaces(tmp_path: Path) -> None:
    project = Project(tmp_path, "my check out")
    assert is_build(project.calls_of("site"))
    assert is_work_only(project.calls_of("site"))
    assert "make site" in project.make("help").stdout
    assert project.calls_of("clean") == []
    assert not (project.checkout / ".venv").exists()


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_a_change_of_what_is_installed_builds_the_environment_again_once(project: Project, changed: str) -> None:
    project.build_long_ago()
    assert is_work_only(project.calls_of("site"))
    project.inputs[changed].touch()
    assert is_build(project.calls_of("site"))
    assert is_work_only(project.calls_of("site"))


@pytest.mark.parametrize("refused", ["-m venv", "constraints.txt pip", "--group dev", "bullmq==2.9.0"])
@pytest.mark.parametrize("before", ["no environment", "an environment out of step"])
def test_a_failed_build_stops_the_target_and_is_tried_again(project: Project, before: str, refused: str) -> None:
    if before != "no environment":
        project.build_long_ago()
        project.inputs["constraints.txt"].touch()
    project.refused.write_text(f"{refused}\n", encoding="utf-8")
    for _ in range(2):
        calls = project.calls_of("site", fails=True)
        assert calls[0] == "outer -m venv --clear .venv"
        assert refused in calls[-1]
    project.refused.unlink()
    assert is_build(project.calls_of("site"))


@pytest.mark.parametrize("gone", ["removed", "a link to nothing", "no longer runs"])
def test_an_environment_whose_python_is_gone_is_built_again(project: Project, gone: str) -> None:
    project.build_long_ago()
    project.python.unlink()
    if gone == "a link to nothing":
        project.python.symlink_to(project.folder / "nothing")
    elif gone == "no longer runs":
        broken_shim(project.python)
    assert is_build(project.calls_of("site"))
    assert is_work_only(project.calls_of("site"))


def test_a_missing_python_stops_a_target_with_the_line_that_says_what_to_install(machine: Machine) -> None:
    for name in ("pyproject.toml", "constraints.txt"):
        (machine.checkout / name).touch()
    done = machine.make("site")
    assert done.returncode != 0
    assert said(done) == said(machine.make("python"))
    assert not (machine.checkout / ".venv").exists()


# The targets


@pytest.mark.parametrize("arguments", [(), ("help",)], ids=["make", "make help"])
def test_help_lists_every_target_with_a_sentence(machine: Machine, arguments: tuple[str, ...]) -> None:
    done = machine.make(*arguments)
    assert done.returncode == 0
    listed = dict(re.findall(r"^ +make (\S+) +(.+)$", done.stdout, re.MULTILINE))
    assert listed.keys() == DOCUMENTED
    assert all(len(sentence.split()) >= 3 for sentence in listed.values()), listed


def test_every_phony_target_is_documented_and_every_documented_target_runs_though_a_file_has_its_name() -> None:
    phony = {name for names in re.findall(r"^\.PHONY:(.*)$", MAKEFILE, re.MULTILINE) for name in names.split()}
    assert phony == DOCUMENTED


# The run on a clean machine


def test_the_ci_script_is_executable_and_valid_bash() -> None:
    bash = shutil.which("bash")
    require(bash is not None, "bash is not installed")
    assert bash is not None
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    done = run([bash, "-n", str(ROOT / ".ci" / "run")], ROOT, dict(os.environ))
    assert (done.returncode, done.stderr) == (0, "")
    listed = run(["git", "ls-files", "--stage", ".ci/run"], ROOT, dict(os.environ)).stdout
    assert listed.startswith("100755 "), "git does not hold .ci/run as executable"


@pytest.mark.parametrize("user", ["root", "a user with sudo"])
@pytest.mark.parametrize("failing", ["nothing", "make test"])
def test_the_ci_script_installs_every_component_then_tests_then_checks_and_stops_at_a_failure(
    tmp_path: Path, user: str, failing: str
) -> None:
    require(shutil.which("bash") is not None, "bash is not installed")
    log = shlex.quote(str(tmp_path / "calls"))
    tools = tmp_path / "tools"
    for tool in ("bash", "env", "dirname", "sh"):
        add_tool(tools, tool)
    script(tools / "id", f"echo {0 if user == 'root' else 1000}")
    script(tools / "sudo", 'as_root=yes; export as_root; exec "$@"')
    script(tools / "apt-get", f'echo "apt-get${{as_root:+ as root}} $*" >>{log}')
    script(tools / "make", f'echo "CI=$CI $PWD make $*" >>{log}; [ "make $*" != "{failing}" ]')
    checkout = tmp_path / "a checkout"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci" / "run")

    done = run([str(checkout / ".ci" / "run")], tmp_path, {"PATH": str(tools), "HOME": str(tmp_path)})

    calls = lines_of(tmp_path / "calls")
    installs = [call for call in calls if call.startswith("apt-get") and " install " in call]
    made = [call for call in calls if " make " in call]
    assert {"redis-server", "chromium", "lua-check"} <= set(" ".join(installs).split())
    assert calls[-len(made) :] == made
    assert all(("as root" in call) == (user != "root") for call in calls if call not in made)
    expected = ["make test"] if failing == "make test" else ["make test", "make check"]
    assert made == [f"CI=true {checkout} {target}" for target in expected]
    assert (done.returncode == 0) == (failing == "nothing")


# What is installed

CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PINNED = {canonicalize_name(line.partition("==")[0]): line.partition("==")[2] for line in CONSTRAINTS}


def test_constraints_are_names_with_versions_and_nothing_else() -> None:
    assert CONSTRAINTS != []
    assert [line for line in CONSTRAINTS if not re.fullmatch(r"[A-Za-z0-9][\w.-]*==[0-9][0-9A-Za-z.!]*", line)] == []
    assert len(PINNED) == len(CONSTRAINTS), "a name is there twice"


def test_the_running_environment_has_exactly_the_pinned_versions() -> None:
    installed = {canonicalize_name(each.metadata["Name"]): each.version for each in metadata.distributions()}
    assert {"pytest", "redis"} <= installed.keys() & PINNED.keys()
    wrong = {name: version for name, version in installed.items() if PINNED.get(name, version) != version}
    assert wrong == {}


def test_everything_the_project_depends_on_is_pinned() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    direct = {*pyproject["project"]["dependencies"], *pyproject["dependency-groups"]["dev"]}
    installed = metadata.requires(pyproject["project"]["name"]) or []
    needed = {name for each in {*direct, *installed} for name in names_needed(Requirement(each), set())}
    assert "mypy" in needed
    assert needed - PINNED.keys() == set()


def names_needed(requirement: Requirement, seen: set[tuple[str, str]]) -> Iterator[str]:
    """The names of what a requirement installs here: its own, and those that it needs in turn."""
    name = canonicalize_name(requirement.name)
    yield name
    for extra in {"", *requirement.extras}:
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for each in map(Requirement, metadata.requires(name) or []):
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                yield from names_needed(each, seen)


# What the repository holds

REGISTRY_MARKS = frozenset(
    {
        "index" + "-url",
        "index" + "_url",
        "--" + "index",
        "tool.uv." + "index",
        "files.python" + "hosted",
        "pypi" + ".org/simple",
        "registry." + "npmjs",
        "registry." + "yarnpkg",
    }
)
LOCK_FILES = {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml", "package-lock.json", "yarn.lock"}


def tracked_files() -> list[Path]:
    done = run(["git", "ls-files", "-z"], ROOT, dict(os.environ))
    assert done.returncode == 0, done.stderr
    files = [ROOT / name for name in done.stdout.split("\0") if name]
    assert ROOT / "Makefile" in files
    return files


def test_no_tracked_file_names_a_package_registry() -> None:
    marked = {
        f"{file.relative_to(ROOT)}: {mark}"
        for file in tracked_files()
        if file.is_file()
        for mark in REGISTRY_MARKS
        if mark.encode() in file.read_bytes().lower()
    }
    assert marked == set()


def test_no_lock_file_is_tracked() -> None:
    assert [file for file in tracked_files() if file.name in LOCK_FILES] == []
