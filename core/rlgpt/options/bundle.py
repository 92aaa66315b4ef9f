"""Reads and writes bundles on disk. The folder of a bundle has ``bundle.json``, and a file ``actions/NAME.py`` or
``functions/NAME.py`` for each source.

Code that actions of a bundle share is in ``shared.py``; ``bundle.json`` lists the actions that use it. Reading a bundle
from disk uses no pickle and checks the sizes of the files.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rlgpt.domain import Bundle
from rlgpt.errors import BundleError
from rlgpt.files import Folder, parse_json
from rlgpt.files.trees import delete

_MANIFEST = "bundle.json"
_KINDS = ("actions", "functions")
"""The fields of a bundle that contain sources. The files with the sources of a field are in a folder with the name of
the field.
"""
_SHARED = "shared.py"
_MANIFEST_LIMIT = 1 << 20
_SOURCE_LIMIT = 1 << 16
_ACTIONS_LIMIT = 256
"""Maximal number of coded actions, and of functions, in a bundle, larger than any policy can use. With this limit, the
sources of the coded actions have at most 16 MiB together.
"""


def save_bundle(bundle: Bundle, folder: str | Path) -> Path:
    """Write ``bundle`` to ``folder``, completely or not at all. A bundle that already exists in ``folder`` is replaced.

    :raises BundleError: ``folder`` is a symbolic link, exists and contains no bundle, or cannot be written.
    """
    _refuse_link(folder := Path(folder))
    if folder.exists() and not Folder(folder, BundleError).exists(_MANIFEST):
        raise BundleError(f"{folder} exists and contains no bundle.json; choose an empty or new folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    files = Folder(staged, BundleError)
    try:
        manifest = bundle.model_dump(mode="json")
        for kind in _KINDS:
            for code in manifest[kind]:
                files.write(f"{kind}/{code['name']}.py", code.pop("source"))
        for action in manifest["actions"]:
            if shared := action.pop("shared"):
                action["shared"] = True
                files.write(_SHARED, shared)
        files.write(_MANIFEST, json.dumps(manifest, indent=2) + "\n")
        staged.chmod(0o755)
        if folder.exists():
            # The old bundle is renamed before it is deleted: after a kill, the folder is a complete bundle or does not
            # exist.
            folder.rename(replaced := Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.")))
            staged.rename(folder)
            with suppress(OSError):  # The new bundle is complete, even if a part of the old one cannot be deleted.
                delete(replaced)
        else:
            staged.rename(folder)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    return folder


def load_bundle(folder: str | Path) -> Bundle:
    """Read a bundle. The sources in a bundle are data until a sandbox runs them, so it is safe to load an untrusted
    bundle.

    :raises BundleError: the bundle is missing or too large, has another schema or an invalid name, or is or contains a
        symbolic link.
    """
    _refuse_link(folder := Path(folder))
    files = Folder(folder, BundleError)
    if not folder.is_dir() or not files.exists(_MANIFEST):
        raise BundleError(
            f"there is no bundle at {folder}: give the folder that contains bundle.json, the folder of a finished run, "
            "or an archive of rlgpt bundle pack."
        )
    path = folder / _MANIFEST
    text = files.read_text(_MANIFEST, limit=_MANIFEST_LIMIT)
    try:
        manifest = parse_json(text)
        version = manifest.get("schema_version") if isinstance(manifest, dict) else None
        if version not in (1, 2, 3, 4):
            raise BundleError(f"{path} has schema version {version!r:.40}; this version of rlgpt reads 1 to 4.")
        sources: dict[str, list[dict[str, Any]]] = {}
        for kind in _KINDS:
            listed = manifest.get(kind, ())
            if len(listed) > _ACTIONS_LIMIT:
                raise BundleError(f"{path} lists {len(listed)} {kind}; a bundle may have at most {_ACTIONS_LIMIT}.")
            sources[kind] = [{**code, "source": ""} for code in listed]
        sharing = [action for action in sources["actions"] if action.pop("shared", False) is True]
        # The names of actions and functions are validated before they are used as file names.
        checked = Bundle.model_validate({**manifest, **sources})
        for kind in _KINDS:
            for code, named in zip(sources[kind], getattr(checked, kind), strict=True):
                code["source"] = files.read_text(f"{kind}/{named.name}.py", limit=_SOURCE_LIMIT)
        shared = files.read_text(_SHARED, limit=_SOURCE_LIMIT) if sharing else ""
        for action in sharing:
            action["shared"] = shared
        return Bundle.model_validate({**manifest, **sources})
    except (ValidationError, TypeError) as fault:
        raise BundleError(f"{path} does not contain a valid bundle: {str(fault)[:400]}") from fault
    except ValueError as fault:
        raise BundleError(f"{path} does not contain valid JSON: {str(fault)[:400]}.") from fault


def _refuse_link(folder: Path) -> None:
    """Refuse a folder that is a symbolic link. A bundle may be inside a run folder made by others, and a symbolic link
    there could point to a file outside that run folder.
    """
    if folder.is_symlink():
        raise BundleError(f"{folder} is a link; give the target of the link.")
