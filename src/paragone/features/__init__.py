"""From pictures to numbers: frozen networks and their weights, what is made of feature maps, distances between sets.

`BACKBONES` names the networks, `load_backbone` gives one as a `Frozen`; `find_weights` finds their files on this
machine, in one order, and downloads only when told to.
`layers` makes Gram matrices, pooled vectors and LPIPS out of feature maps, `sets` compares two sets of vectors,
`handcrafted` describes a picture without a network. Torch is imported when a network is loaded, not before.
"""

from __future__ import annotations

from .backbones import BACKBONES, load_backbone
from .described import Block, Features
from .extraction import extract, vector
from .featuresets import FEATURES, FeatureSet
from .frozen import Frozen, Precision
from .handcrafted import HANDCRAFTED, handcrafted
from .layers import LPIPS_NETWORKS, Lpips, gram_matrix, load_lpips, pooled
from .nets import Backbone, Network, as_batch, torch_threads
from .scripted import load_scripted
from .sets import Moments, frechet_distance, kid, moments, moments_distance, paired_kid
from .stored import read_arrays
from .weights import Carried, Found, Sought, carried_file, find_weights, sha256_of

__all__ = [
    "BACKBONES",
    "FEATURES",
    "HANDCRAFTED",
    "LPIPS_NETWORKS",
    "Backbone",
    "Block",
    "Carried",
    "FeatureSet",
    "Features",
    "Found",
    "Frozen",
    "Lpips",
    "Moments",
    "Network",
    "Precision",
    "Sought",
    "as_batch",
    "carried_file",
    "extract",
    "find_weights",
    "frechet_distance",
    "gram_matrix",
    "handcrafted",
    "kid",
    "load_backbone",
    "load_lpips",
    "load_scripted",
    "moments",
    "moments_distance",
    "paired_kid",
    "pooled",
    "read_arrays",
    "sha256_of",
    "torch_threads",
    "vector",
]
