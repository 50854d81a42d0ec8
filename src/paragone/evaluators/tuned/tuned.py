"""`tune`: a network that learns people's scores from single pictures, and `Tuned`, what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...errors import BadInput, WouldOverwrite
from ...features import read_arrays, sha256_of
from ...parallel import track
from ...settings import Settings, read_settings, write_toml
from ...tables import whole_file
from .architecture import Architecture
from .fitting import architecture_of, begin, fit, material_of
from .pictures import read_prepared
from .settings import TunedSettings

if TYPE_CHECKING:
    import torch

__all__ = ["Tuned", "tune"]

_TOML, _WEIGHTS = "tuned.toml", "weights.safetensors"


class _Stored(Settings, frozen=True):
    """What stands in `tuned.toml`."""

    network: str
    criteria: list[str]
    mean: list[float]
    scale: list[float]
    weights_file_sha256: str
    settings: TunedSettings
    notes: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """A tuned network that scores single pictures."""

    network: Architecture
    criteria: tuple[str, ...]
    settings: TunedSettings
    mean: NDArray[np.float64]
    """(k,) of the training scores, in the unit of each criterion."""
    scale: NDArray[np.float64]
    """(k,) their standard deviation."""
    notes: Mapping[str, Any]
    """label (which results must carry), weights_source, weights_sha256, seed, n, groups, epoch_choice, epoch, losses, ..."""
    module: torch.nn.Module = field(repr=False)

    def predict(self, images: Mapping[str, str | Path], *, device: str = "cpu", quiet: bool = True) -> pl.DataFrame:
        """Score pictures.

        Args:
            images: item -> its file.
            device: where to compute, for example 'cuda'.
            quiet: show no progress.

        Returns:
            item, criterion, score, status, reason; sorted by item, then criterion; in the unit of what was learnt.
            A picture that cannot be read gets null and the status 'broken', and stops no other one; `reason` says why.

        Raises:
            BadConfig: no such device here.
        """
        from .training import on_device, score_crops

        rows = []
        with on_device(self.module, device):
            for item in track(sorted(images), "scoring pictures", quiet=quiet):
                read = read_prepared(images[item], self.settings)
                given = (
                    None
                    if read.fault
                    else self.mean + self.scale * score_crops(self.module, read.values, self.settings)
                )
                for at, criterion in enumerate(self.criteria):
                    score = None if given is None else float(given[at])
                    rows.append((item, criterion, score, "broken" if read.fault else "ok", read.fault))
        schema = {
            "item": pl.String,
            "criterion": pl.String,
            "score": pl.Float64,
            "status": pl.String,
            "reason": pl.String,
        }
        return pl.DataFrame(rows, schema=schema, orient="row")

    def save(self, folder: str | Path) -> Path:
        """Write the network as `tuned.toml` and `weights.safetensors`; the TOML file is written last.

        Raises:
            WouldOverwrite: the folder holds a tuned network already.
            MissingExtra: safetensors is not installed.
        """
        folder = Path(folder)
        if (folder / _TOML).exists():
            raise WouldOverwrite(f"'{folder}' holds a tuned network already; name another folder", where=str(folder))
        architecture_of(self.network)  # safetensors is there
        from safetensors.numpy import save_file

        arrays = {name: np.ascontiguousarray(one.numpy()) for name, one in self.module.state_dict().items()}
        with whole_file(folder / _WEIGHTS) as aside:
            save_file(arrays, aside)
        content = _Stored(
            network=self.network.name,
            criteria=list(self.criteria),
            mean=[float(one) for one in self.mean],
            scale=[float(one) for one in self.scale],
            weights_file_sha256=sha256_of(folder / _WEIGHTS),
            settings=self.settings,
            notes=dict(self.notes),
        )
        write_toml({"format": 1, **msgspec.to_builtins(content)}, folder / _TOML)
        return folder

    @classmethod
    def load(cls, folder: str | Path, *, network: Architecture | None = None) -> Tuned:
        """Read a network that `save` wrote; it predicts what it predicted then.

        Args:
            folder: where it is.
            network: its architecture, where it was none that has a name here.

        Raises:
            NotFound: no such file.
            BadConfig: `tuned.toml` is not what `save` writes.
            BadInput: the weights are not those that were saved, or do not fit the network.
            MissingExtra: torch or timm is not installed.
        """
        folder = Path(folder)
        stored = read_settings(folder / _TOML, _Stored)
        architecture = architecture_of(network or stored.network)
        arrays = read_arrays(folder / _WEIGHTS)
        if sha256_of(folder / _WEIGHTS) != stored.weights_file_sha256:
            raise BadInput(f"{folder / _WEIGHTS}: not the weights that {_TOML} speaks of", where=str(folder))
        import torch

        with torch.random.fork_rng(devices=[]):
            module = architecture.build(len(stored.criteria))
        try:
            module.load_state_dict({name: torch.from_numpy(np.array(one)) for name, one in arrays.items()})
        except RuntimeError as error:
            raise BadInput(
                f"{folder / _WEIGHTS}: does not fit the network '{architecture.name}'", where=str(folder)
            ) from error
        return cls(
            network=architecture,
            criteria=tuple(stored.criteria),
            settings=stored.settings,
            mean=np.array(stored.mean),
            scale=np.array(stored.scale),
            notes=stored.notes,
            module=module.eval(),
        )


def tune(
    images: Mapping[str, str | Path],
    scores: Mapping[str, Mapping[str, float]],
    groups: Mapping[str, str],
    *,
    network: str | Architecture,
    settings: TunedSettings | None = None,
    seed: int = 0,
    weights: str | Path | None = None,
    random: bool = False,
    folder: str | Path | None = None,
    device: str = "cpu",
    jobs: int = 1,
    quiet: bool = True,
) -> Tuned:
    """Tune a network on pictures and people's scores of them.

    On several GPUs: start the program with `accelerate launch`; every process calls this, and all get the same network.
    The same arguments give the same numbers on one CPU with the same number of threads; a training that was stopped
    goes on from the last whole epoch in `folder` and ends as if it had not been.

    Args:
        images: item -> its file. Items without any score are not read.
        scores: criterion -> item -> score; a missing item or NaN is no score.
        groups: item -> level of the factor whose levels stay together (object, prompt), for every item that has both.
        network: a name of `NETWORKS`, 'timm:NAME', or an Architecture.
        settings: None: the defaults.
        seed: of the head, the order, the crops and the validation groups.
        weights: file with the backbone's weights; None: looked for in the order of `features.find_weights`.
        random: start from random weights instead.
        folder: where `checkpoint.pt` is kept after each epoch; None: nothing is kept.
        device: 'cpu', 'cuda', 'mps', ...
        jobs: processes that decode pictures.
        quiet: show no progress.

    Raises:
        MissingExtra: torch, timm or accelerate is not installed.
        NotFound: no weights; one line names each place that was looked at.
        BadImage: some pictures cannot be read; mend them or leave them out.
        TooFew: too few pictures, scores or groups.
        CannotScore: all scores of a criterion are equal.
        BadConfig: settings that the network or the device cannot meet.
        BadInput: items without a group, infinite scores, or a checkpoint of another training.
        NotConverged: the loss became infinite.
    """
    settings = settings or TunedSettings()
    architecture = architecture_of(network)
    material = material_of(images, scores, groups, settings, jobs=jobs, quiet=quiet)
    rows = np.arange(len(material.pictures.items), dtype=np.int64)
    begun = begin(material, rows, architecture, settings, seed=seed, weights=weights, random=random)
    checkpoint = Path(folder) / "checkpoint.pt" if folder is not None else None
    made = fit(begun, checkpoint=checkpoint, device=device, quiet=quiet)
    return Tuned(
        network=architecture,
        criteria=material.criteria,
        settings=settings,
        mean=made.mean,
        scale=made.scale,
        notes=made.notes,
        module=made.module,
    )
