"""A bundle made by others is loaded as data, or refused with an error."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from rlgpt.errors import BundleError
from rlgpt.options import load_bundle, save_bundle


@pytest.fixture
def bundle(own_run: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    shutil.copytree(own_run / "bundle", folder)
    return folder


@pytest.mark.parametrize("name", ["bundle.json", "actions", "actions/to_row.py"])
@pytest.mark.parametrize("kind", ["link", "pipe", "device", "folder"])
def test_load_bundle_refuses_links_pipes_devices_and_folders_in_place_of_files(
    bundle: Path, private: Path, name: str, kind: str
) -> None:
    path = bundle / name
    path.rename(private / "moved")
    if kind == "link":
        path.symlink_to(private / "moved")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif name != "actions":
        path.mkdir()
    with pytest.raises(BundleError, match=name.split("/")[0]):
        load_bundle(bundle)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ('"schema_version": 3', f'"schema_version": {"9" * 5000}', "digits"),
        ('"schema_version": 3', '"schema_version": 3, "x": ' + "[" * 9999 + "]" * 9999, "deep"),
        ('"schema_version": 3', '"schema_version": 3, "schema_version": 3', "twice"),
        ('"name": "to_row"', '"name": "../../private/id_rsa"', "name"),
        ('"max_steps": 10', '"max_steps": 1e999', "max_steps"),
    ],
)
def test_load_bundle_refuses_an_invalid_manifest_with_a_short_message(
    bundle: Path, old: str, new: str, word: str
) -> None:
    path = bundle / "bundle.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(BundleError, match=word) as caught:
        load_bundle(bundle)
    assert len(str(caught.value)) < 1000


def test_save_bundle_refuses_a_link_as_target(bundle: Path, private: Path, tmp_path: Path) -> None:
    loaded = load_bundle(bundle)
    (tmp_path / "link").symlink_to(private / "deep")
    with pytest.raises(BundleError, match="link"):
        save_bundle(loaded, tmp_path / "link")
    assert sorted(p.name for p in (private / "deep").iterdir()) == ["notes.txt"]
    assert json.loads((bundle / "bundle.json").read_text())["schema_version"] == 3
