"""The checks of ``rlgpt doctor``. Each check tests one requirement, and gives advice if the requirement is not met."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec

from rlgpt.cli.paths import conf_dir, overrides_file
from rlgpt.errors import ConfigError, RlgptError
from rlgpt.plugin import Check, PluginManager

PACKAGES = ("gymnasium", "numpy", "torch", "hydra-core", "litellm", "wasmtime")


def all_checks() -> Iterator[tuple[Check, bool]]:
    """All checks of the installation. Each check comes with a flag, which is True if every run needs what the check
    tests.
    """
    yield Check("python", True, platform.python_version()), True
    for package in PACKAGES:
        yield version(package), True
    yield configuration(), True
    working = sandbox()
    yield working, True
    if working.ok:
        yield boundary(), True
    yield sample_factory(), False
    yield video(), False
    yield from ((check, False) for check in plugins(PluginManager()))


def version(package: str) -> Check:
    try:
        return Check(package, True, metadata.version(package))
    except metadata.PackageNotFoundError:
        return Check(package, False, "not installed", f"Install it: pip install {package}")


def configuration() -> Check:
    try:
        return Check("configuration", True, str(conf_dir()))
    except ConfigError as error:
        return Check("configuration", False, "not found", str(error))


def sandbox() -> Check:
    """Check that the sandbox works, by running a coded action in the sandbox."""
    from rlgpt.domain import CodedAction
    from rlgpt.sandbox import Done, Library, Sandbox

    action = CodedAction(name="check", doc="ends at once", source="def run():\n    return\n    yield\n")
    library = Library(primitives=(), view=())
    try:
        turn = Sandbox().open(library, [action], seed=0).start("check", {})
    except RlgptError as error:
        return Check("sandbox", False, "does not work", str(error))
    answers = isinstance(turn, Done)
    return Check("sandbox", answers, "the guest answers" if answers else f"the guest answered {turn}")


def boundary() -> Check:
    """Check that the sandbox stops a few known attacks on this machine."""
    from rlgpt.sandbox.proof import ESCAPES, prove

    faults = prove()
    if not faults:
        return Check("boundary", True, f"{len(ESCAPES)} attacks tried, all were stopped")
    advice = "Do not run coded actions on this machine. Report this as docs/security.md describes."
    return Check("boundary", False, "; ".join(faults), advice)


def sample_factory() -> Check:
    """Check whether Sample Factory (a trainer) is installed. Sample Factory is an extra of rlgpt, because its pinned
    requirements need overrides, which pip does not support.
    """
    if find_spec("sample_factory") is not None:
        return Check("sample-factory", True, metadata.version("sample-factory"))
    advice = (
        f"pip install uv && uv pip install --overrides {overrides_file()} 'rlgpt[sample-factory]'. "
        "Until then: trainer=ppo."
    )
    return Check("sample-factory", False, "not installed (an extra)", advice)


def video() -> Check:
    """Check whether this machine can write an mp4 video, and which library renders frames."""
    if find_spec("imageio_ffmpeg") is None:
        return Check("video", False, "imageio-ffmpeg is not installed", "pip install imageio-ffmpeg")
    import imageio_ffmpeg

    try:
        encoder = imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as error:
        return Check("video", False, str(error), "Install ffmpeg, or set IMAGEIO_FFMPEG_EXE to its path.")
    gl = os.environ.get("MUJOCO_GL", "chosen by each plugin")
    return Check("video", True, f"encoder {os.path.basename(encoder)}, GL: {gl}")


def plugins(manager: PluginManager) -> Iterator[Check]:
    """The checks of each installed plugin, and one failed check for each plugin that cannot be loaded."""
    for name, plugin in manager.plugins.items():
        tasks = sum(task.plugin == name for task in manager.tasks().values())
        yield Check(f"plugin {name}", True, f"{tasks} tasks")
        for check in plugin.doctor():
            yield Check(f"  {name}: {check.name}", check.ok, check.detail, check.advice)
    for entry, fault in manager.broken.items():
        yield Check(
            f"plugin {entry}", False, f"broken: {fault}", "Fix or uninstall this plugin; the other plugins work."
        )
    if not manager.plugins and not manager.broken:
        yield Check("plugins", False, "none installed", "Install one, or make one: rlgpt new-plugin NAME")
