"""Backbone and heads in one ONNX file say what the evaluator says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from installed import needed
from learning_world import learning_folder
from paragone.errors import BadInput
from paragone.evaluators.export import export_onnx
from paragone.evaluators.stored import load_evaluator
from paragone.features import FEATURES, load_backbone
from paragone.features.featuresets import from_maps
from paragone.loop.described import Network
from paragone.loop.evaluated import train_folder

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "learner", ["astra-score:components=8,epochs=3,seeds=2", "astra-score:epochs=2,seeds=1", "ridge", "svr"]
)
def test_onnx_runtime_gives_the_same_scores_for_any_number_of_pictures(tmp_path: Path, learner: str) -> None:
    torch, _, runtime = needed("torch"), needed("onnxscript"), needed("onnxruntime")
    world = learning_folder(tmp_path / "bench")
    judge = load_evaluator(
        train_folder(world, Network(backbone="alexnet", random=0, side=64), learner=learner, validate=False)
    )
    network = load_backbone("alexnet", seed=0)
    path = export_onnx(judge, network, tmp_path / "judge.onnx")
    session = runtime.InferenceSession(str(path))
    assert [one.name for one in session.get_inputs()] == ["image", "content", "style"]
    assert [one.name for one in session.get_outputs()] == ["score_content", "score_style"]
    rng = np.random.default_rng(0)
    for n in (1, 4):
        given = {name: rng.random((n, 3, 64, 64), dtype=np.float32) for name in ("image", "content", "style")}
        with torch.inference_mode():
            maps = {name: network(torch.from_numpy(one)) for name, one in given.items()}
            values = from_maps(FEATURES["triplet-v1"], maps).numpy()
        for got, head in zip(session.run(None, given), judge.heads.values(), strict=True):
            np.testing.assert_allclose(got, head.fitted.predict(values[:, head.columns]).score, rtol=1e-3, atol=1e-3)


def test_another_network_is_not_exported(tmp_path: Path) -> None:
    needed("onnxscript")
    world = learning_folder(tmp_path / "bench")
    judge = load_evaluator(
        train_folder(world, Network(backbone="alexnet", random=0, side=64), learner="ridge", validate=False)
    )
    with pytest.raises(BadInput, match="was trained on alexnet"):
        export_onnx(judge, load_backbone("alexnet", seed=3), tmp_path / "judge.onnx")
    assert not list(tmp_path.glob("*.onnx"))
