"""From pictures to numbers: frozen networks and their weights, what is made of feature maps, distances between sets.

`BACKBONES` names the networks; `find_weights` finds their files on this machine, in one order, and never downloads.
`layers` makes Gram matrices, pooled vectors and LPIPS out of feature maps, `sets` compares two sets of vectors,
`handcrafted` describes a picture without a network. Torch is imported when a network is loaded, not before.
"""

from __future__ import annotations

from ..catalog import Catalog
from .handcrafted import HANDCRAFTED, handcrafted
from .layers import LPIPS_NETWORKS, Lpips, gram_matrix, load_lpips, pooled
from .nets import Backbone, Network, as_batch, torch_threads
from .scripted import load_scripted
from .sets import Moments, frechet_distance, kid, moments, moments_distance, paired_kid
from .stored import read_arrays
from .weights import Carried, Found, Sought, carried_file, find_weights, sha256_of

__all__ = [
    "BACKBONES",
    "HANDCRAFTED",
    "LPIPS_NETWORKS",
    "Backbone",
    "Carried",
    "Found",
    "Lpips",
    "Moments",
    "Network",
    "Sought",
    "as_batch",
    "carried_file",
    "find_weights",
    "frechet_distance",
    "gram_matrix",
    "handcrafted",
    "kid",
    "load_lpips",
    "load_scripted",
    "moments",
    "moments_distance",
    "paired_kid",
    "pooled",
    "read_arrays",
    "sha256_of",
    "torch_threads",
]

BACKBONES = Catalog(
    "paragone.backbones",
    "backbone",
    {
        "alexnet": "paragone.features.nets:ALEXNET",
        "vgg16": "paragone.features.nets:VGG16",
    },
)
"""name -> network; third parties add theirs as entry points of the group 'paragone.backbones'."""
