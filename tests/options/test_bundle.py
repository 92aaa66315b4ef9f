"""A saved bundle loads unchanged. A hostile folder is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlgpt.domain import ActionPlan, Bundle, CodedAction, Parameter, Provenance, RLSetup, SubAction
from rlgpt.errors import BundleError
from rlgpt.options import load_bundle, save_bundle

names = st.from_regex(r"[a-z][a-z0-9_]{0,39}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
actions = st.builds(
    CodedAction,
    name=names,
    doc=texts,
    source=texts.map(lambda t: t.replace("\r", "")),
    max_steps=st.integers(1, 100),
    parameters=st.just((Parameter(name="d", low=0.0, high=1.0, default=0.5, unit="m"),)),
)


@pytest.fixture
def bundle() -> Bundle:
    return Bundle(
        actions=(CodedAction(name="go", doc="go", source="def run():\n    yield go()\n"),),
        setup=RLSetup(reward_weights={"reach": 1.0}, observation_keys=("observation",), coded_actions=("go",)),
        plan=ActionPlan(sub_actions=(SubAction(name="go", description="", kind="code", reason=""),)),
        tested_on=Provenance(task="grid/key", success_rate=0.5, episodes=10),
    )


def test_folder_of_a_bundle_may_be_a_string(bundle: Bundle, tmp_path: Path) -> None:
    save_bundle(bundle, f"{tmp_path}/go")
    assert load_bundle(f"{tmp_path}/go") == bundle


@given(st.lists(actions, max_size=4, unique_by=lambda a: a.name))
def test_saved_bundle_is_loaded_unchanged(tmp_path_factory: pytest.TempPathFactory, drawn: list[CodedAction]) -> None:
    bundle = Bundle(actions=tuple(drawn))
    assert load_bundle(save_bundle(bundle, tmp_path_factory.mktemp("bundles") / "b")) == bundle


def test_save_bundle_replaces_a_bundle_but_no_other_folder(bundle: Bundle, tmp_path: Path) -> None:
    folder = save_bundle(bundle, tmp_path / "b")
    save_bundle(bundle.model_copy(update={"actions": ()}), folder)
    assert load_bundle(folder).actions == ()
    assert [p.name for p in tmp_path.iterdir()] == ["b"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(BundleError, match=r"no bundle.json"):
        save_bundle(bundle, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").exists()


def test_bundle_is_complete_after_a_kill_at_any_moment(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a kill interrupts the deletion of the old bundle, the bundle can still be loaded and replaced."""

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    folder = save_bundle(bundle, tmp_path / "b")
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            save_bundle(bundle.model_copy(update={"plan": None}), folder)
    assert load_bundle(folder).actions == bundle.actions
    assert load_bundle(save_bundle(bundle, folder)) == bundle


def edit(folder: Path, **changes: object) -> None:
    path = folder / "bundle.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_load_bundle_refuses_a_hostile_bundle_folder(bundle: Bundle, tmp_path: Path) -> None:
    def fresh(name: str) -> Path:
        return save_bundle(bundle, tmp_path / name)

    folder = fresh("name")
    edit(folder, actions=[{"name": "../../etc/passwd", "doc": "", "max_steps": 3}])
    with pytest.raises(BundleError, match=r"valid bundle"):
        load_bundle(folder)

    folder = fresh("link")
    secret = tmp_path / "secret"
    secret.write_text("key")
    (folder / "actions" / "go.py").unlink()
    (folder / "actions" / "go.py").symlink_to(secret)
    with pytest.raises(BundleError, match=r"it is a link"):
        load_bundle(folder)

    folder = fresh("linked folder")
    (folder / "actions").rename(tmp_path / "elsewhere")
    (folder / "actions").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match=r"is a link"):
        load_bundle(folder)

    folder = fresh("endless")
    parameter = {"name": "d", "low": 0.0, "high": float("inf"), "default": 0.0}
    edit(folder, actions=[{"name": "go", "doc": "", "parameters": [parameter]}])
    with pytest.raises(BundleError, match=r"must be finite"):
        load_bundle(folder)

    folder = fresh("large")
    (folder / "actions" / "go.py").write_text("#" * 100_000)
    with pytest.raises(BundleError, match=r"100,000 bytes"):
        load_bundle(folder)

    folder = fresh("version")
    edit(folder, schema_version=7)
    with pytest.raises(BundleError, match=r"schema version 7"):
        load_bundle(folder)

    for number, text in enumerate(
        (
            "{",
            "[1]",
            '{"schema_version": 1, "actions": 3}',
            "[" * 5000,
            "\xff",
            '{"schema_version": 1' + "0" * 5000 + "}",
        )
    ):
        folder = fresh(f"torn{number}")
        (folder / "bundle.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(BundleError):
            load_bundle(folder)

    with pytest.raises(BundleError, match=r"no bundle at"):
        load_bundle(tmp_path / "nowhere")


def test_bundle_stores_the_shared_code_of_its_actions_in_one_file(tmp_path: Path) -> None:
    source, shared = "def run():\n    yield go(cells=STEP)\n", "STEP = 2\n"
    actions = (
        CodedAction(name="near", doc="", source=source, shared=shared),
        CodedAction(name="far", doc="", source=source, shared=shared),
        CodedAction(name="alone", doc="", source=source),
    )
    bundle = Bundle(actions=actions)
    folder = save_bundle(bundle, tmp_path / "b")
    assert (folder / "shared.py").read_text() == shared
    assert "STEP" not in (folder / "bundle.json").read_text()
    assert load_bundle(folder) == bundle
    with pytest.raises(ValueError, match="must have the same"):
        Bundle(actions=(actions[0], actions[1].model_copy(update={"shared": "STEP = 3\n"})))


def test_load_bundle_refuses_a_linked_large_or_missing_file_of_shared_code(tmp_path: Path) -> None:
    def fresh(name: str) -> Path:
        return save_bundle(
            Bundle(actions=(CodedAction(name="a", doc="", source="", shared="X = 1\n"),)), tmp_path / name
        )

    folder = fresh("link")
    (tmp_path / "secret").write_text("key")
    (folder / "shared.py").unlink()
    (folder / "shared.py").symlink_to(tmp_path / "secret")
    with pytest.raises(BundleError, match="it is a link"):
        load_bundle(folder)
    folder = fresh("large")
    (folder / "shared.py").write_text("#" * (1 << 17))
    with pytest.raises(BundleError, match=r"shared\.py"):
        load_bundle(folder)
    folder = fresh("missing")
    (folder / "shared.py").unlink()
    with pytest.raises(BundleError, match=r"shared\.py"):
        load_bundle(folder)
    folder = fresh("elsewhere")
    edit(folder, actions=[{"name": "a", "doc": "", "max_steps": 3, "shared": "../../etc/passwd"}])
    assert load_bundle(folder).actions[0].shared == "", "a file name in the manifest is ignored"


def test_load_bundle_reads_bundles_of_older_schema_versions(tmp_path: Path) -> None:
    folder = save_bundle(Bundle(actions=(CodedAction(name="a", doc="", source="x = 1\n"),)), tmp_path / "b")
    for version in (1, 2):
        edit(folder, schema_version=version, actions=[{"name": "a", "doc": "", "max_steps": 3}])
        assert load_bundle(folder).actions == (CodedAction(name="a", doc="", source="x = 1\n", max_steps=3),)
