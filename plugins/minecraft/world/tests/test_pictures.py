"""The images of the README exist, are small, and can be rendered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from voxeldojo.pictures import SCENES, SIZE, main

DOCS = Path(__file__).parents[1] / "docs"
LARGEST = 150_000


@pytest.mark.parametrize("name", SCENES)
def test_docs_folder_has_a_small_image_of_each_scene(name: str) -> None:
    path = DOCS / f"{name}.png"
    assert path.stat().st_size < LARGEST
    with Image.open(path) as picture:
        assert picture.size == SIZE[::-1]


@pytest.mark.parametrize("name", ["animals", *(pytest.param(n, marks=pytest.mark.slow) for n in ("cave", "night"))])
def test_command_renders_an_image_of_a_scene(name: str, tmp_path: Path) -> None:
    assert main([str(tmp_path), "--scenes", name]) == 0
    with Image.open(tmp_path / f"{name}.png") as picture:
        assert len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)) > 50
