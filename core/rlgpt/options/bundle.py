"""Bundles on disk: ``bundle.json`` and one ``actions/NAME.py`` for each coded action. No pickle, sizes checked."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from pydantic import ValidationError

from rlgpt.domain import Bundle
from rlgpt.errors import BundleError
from rlgpt.files import read_text, write_atomic

_MANIFEST_LIMIT = 1 << 20
_SOURCE_LIMIT = 1 << 16
_ACTIONS_LIMIT = 256
"""So many coded actions no policy chooses from; their sources have 16 MiB at most."""


def save_bundle(bundle: Bundle, folder: Path) -> Path:
    """Write ``bundle`` as a folder, whole or not at all; an existing bundle there is replaced.

    :raises BundleError: ``folder`` exists and is no bundle.
    """
    if folder.exists() and not (folder / "bundle.json").is_file():
        raise BundleError(f"{folder} exists and holds no bundle.json; choose an empty or new folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        manifest = bundle.model_dump(mode="json")
        for action in manifest["actions"]:
            write_atomic(staged / "actions" / f"{action['name']}.py", action.pop("source"))
        write_atomic(staged / "bundle.json", json.dumps(manifest, indent=2) + "\n")
        staged.chmod(0o755)
        if folder.exists():
            # aside before it is deleted: killed in between, what is left under its name is whole or absent
            folder.rename(replaced := Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.")))
            staged.rename(folder)
            shutil.rmtree(replaced)
        else:
            staged.rename(folder)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    return folder


def load_bundle(folder: Path) -> Bundle:
    """Read a bundle. Its sources are data until a sandbox runs them: a stranger's bundle is safe to load.

    :raises BundleError: missing, too large, of another schema, or a name that is no name.
    """
    path = folder / "bundle.json"
    if not folder.is_dir():
        raise BundleError(f"there is no bundle at {folder}: give the folder that holds bundle.json.")
    try:
        manifest = json.loads(read_text(path, limit=_MANIFEST_LIMIT, error=BundleError))
        version = manifest.get("schema_version") if isinstance(manifest, dict) else None
        if version != 1:
            raise BundleError(f"{path} has schema version {version!r}; this version of rlgpt reads 1.")
        # Names become file names only after they are known to be names.
        if (folder / "actions").is_symlink():
            raise BundleError(f"{folder / 'actions'} is a link: a bundle holds its sources itself.")
        listed = manifest.get("actions", ())
        if len(listed) > _ACTIONS_LIMIT:
            raise BundleError(f"{path} lists {len(listed)} actions; a bundle holds {_ACTIONS_LIMIT} at most.")
        empty = [{**a, "source": ""} for a in listed]
        names = [a.name for a in Bundle.model_validate({**manifest, "actions": empty}).actions]
        for action, name in zip(empty, names, strict=True):
            action["source"] = read_text(folder / "actions" / f"{name}.py", limit=_SOURCE_LIMIT, error=BundleError)
        return Bundle.model_validate({**manifest, "actions": empty})
    except (ValidationError, TypeError) as fault:
        raise BundleError(f"{path} does not hold a valid bundle: {str(fault)[:400]}") from fault
    except (ValueError, RecursionError) as fault:  # an integer of thousands of digits is a plain ValueError
        raise BundleError(f"{path} is no JSON ({fault}).") from fault
