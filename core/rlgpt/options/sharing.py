"""Shares bundles, with a model card, as an archive or in a repository of the Hugging Face hub.

A bundle from an archive or from the Hugging Face hub is hostile data. When a bundle is downloaded, only the files that
belong to a bundle are read, and their number and sizes are limited. The local copy is written from the loaded bundle.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlgpt.domain import Bundle
from rlgpt.errors import BundleError
from rlgpt.files import Folder
from rlgpt.options.bundle import load_bundle, save_bundle
from rlgpt.options.card import card
from rlgpt.terminal import visible

if TYPE_CHECKING:
    from huggingface_hub import HfApi

CARD = "README.md"
_NAMES = re.compile(r"bundle\.json|shared\.py|(?:actions|functions)/[a-z][a-z0-9_]{0,39}\.py")
_FILES = 600
"""Maximal number of files in an archive or a repository."""
_SIZE = 32 << 20
"""Maximal size of a bundle in bytes, unpacked."""
_REPOSITORY = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


def read_bundle(path: Path) -> Bundle:
    """Load the bundle in a folder, in the folder ``bundle`` of a run, or in an archive.

    :raises BundleError: ``path`` contains no valid bundle.
    """
    if path.is_file():
        with tempfile.TemporaryDirectory(prefix="rlgpt-bundle-") as drafts:
            _unpack(path, Path(drafts))
            return load_bundle(Path(drafts))
    return load_bundle(path / "bundle" if (path / "run.json").is_file() else path)


def pack(bundle: Bundle, out: Path) -> Path:
    """Write a bundle with its model card as a zip archive. Two archives of the same bundle have the same bytes.

    :raises BundleError: the file cannot be written.
    """
    with _staged(bundle) as folder, tempfile.TemporaryDirectory(prefix="rlgpt-bundle-") as drafts:
        draft = Path(drafts) / "bundle.zip"
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(p for p in folder.rglob("*") if p.is_file()):
                entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, file.read_bytes())
        Folder(out.parent, BundleError).write(out.name, draft.read_bytes())
    return out


def push(bundle: Bundle, repository: str, *, private: bool = True) -> str:
    """Upload a bundle and its model card to a repository of the Hugging Face hub. If the repository does not exist on
    the Hugging Face hub, ``push`` creates it.

    The environment variable ``HF_ENDPOINT`` selects another hub than the public Hugging Face hub.

    :param repository: the name of the Hugging Face repository, in the form ``USER/NAME``.
    :returns: the address of the commit in the repository.
    :raises BundleError: the package ``huggingface_hub`` is not installed, or the Hugging Face hub refuses the request.
    """
    api = _hub(repository)
    with _staged(bundle) as folder, _refusals(repository):
        api.create_repo(repository, exist_ok=True, private=private)
        done = api.upload_folder(repo_id=repository, folder_path=folder, commit_message="Bundle of rlgpt")
    return visible(str(done.commit_url))


def pull(repository: str, out: Path, *, revision: str | None = None) -> Bundle:
    """Download a bundle from the Hugging Face hub, check it and write it to the new folder ``out``.

    :param revision: a branch, a tag or a commit of the Hugging Face repository. If ``revision`` is None, the newest
        commit is downloaded.
    :raises BundleError: ``out`` exists already, the package ``huggingface_hub`` is not installed, the Hugging Face hub
        refuses the request, or the repository contains no valid bundle.
    """
    api = _hub(repository)
    if out.exists():
        raise BundleError(f"{out} exists already; choose a new folder.")
    from huggingface_hub import snapshot_download

    with tempfile.TemporaryDirectory(prefix="rlgpt-bundle-") as drafts, _refusals(repository):
        found = api.model_info(repository, revision=revision, files_metadata=True)
        files = [s for s in found.siblings or () if _NAMES.fullmatch(s.rfilename)]
        _check({s.rfilename: s.size or 0 for s in files}, repository)
        snapshot_download(
            repository,
            revision=found.sha,
            local_dir=drafts,
            cache_dir=Path(drafts, ".hub"),
            allow_patterns=[s.rfilename for s in files],
        )
        bundle = load_bundle(Path(drafts))
    save_bundle(bundle, out)
    Folder(out, BundleError).write(CARD, card(bundle))
    return bundle


@contextmanager
def _staged(bundle: Bundle) -> Iterator[Path]:
    """Make a temporary folder with only the files of ``bundle`` and its model card."""
    with tempfile.TemporaryDirectory(prefix="rlgpt-bundle-") as drafts:
        folder = save_bundle(bundle, Path(drafts) / "bundle")
        Folder(folder, BundleError).write(CARD, card(bundle))
        yield folder


def _unpack(path: Path, folder: Path) -> None:
    files = Folder(folder, BundleError)
    with Folder(path.parent, BundleError).open(path.name, limit=_SIZE) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                entries = [e for e in archive.infolist() if not e.is_dir() and e.filename != CARD]
                wrong = [e.filename for e in entries if not _NAMES.fullmatch(e.filename)]
                if wrong:
                    raise BundleError(f"{path} holds {wrong[0][:80]!r}, which is no file of a bundle.")
                _check({e.filename: e.file_size for e in entries}, str(path))
                for entry in entries:
                    with archive.open(entry) as packed:
                        files.write(entry.filename, packed.read(entry.file_size + 1)[: entry.file_size])
        except BundleError:
            raise
        except Exception as fault:  # Damaged archives raise zlib.error, IndexError, ...
            raise BundleError(f"{path} is not an archive that can be read: {fault}.") from fault


def _check(sizes: Mapping[str, int], where: str) -> None:
    if "bundle.json" not in sizes:
        raise BundleError(f"{where} holds no bundle.json.")
    if len(sizes) > _FILES or sum(sizes.values()) > _SIZE:
        size = f"{len(sizes)} files of {sum(sizes.values()):,} bytes"
        raise BundleError(f"{where} holds {size}; a bundle has at most {_FILES} files of {_SIZE:,} bytes.")


def _hub(repository: str) -> HfApi:
    if not _REPOSITORY.fullmatch(repository):
        raise BundleError(f"{repository!r} is not the name of a repository: write USER/NAME.")
    try:
        from huggingface_hub import HfApi
    except ModuleNotFoundError as missing:
        raise BundleError("push and pull need an extra that is not installed: pip install 'rlgpt[hub]'.") from missing
    return HfApi()


@contextmanager
def _refusals(repository: str) -> Iterator[None]:
    from huggingface_hub.errors import HfHubHTTPError

    faults: Sequence[type[Exception]] = (HfHubHTTPError, OSError, ValueError)
    try:
        yield
    except BundleError:
        raise
    except tuple(faults) as fault:
        text: Any = visible(" ".join(str(fault).split()))[:400]
        raise BundleError(f"the hub refuses {repository}: {text} `hf auth login` logs you in.") from fault
