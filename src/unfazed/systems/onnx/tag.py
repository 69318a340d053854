"""Token classification, a BIO tag for each token of a text, by a graph."""

from __future__ import annotations

from unfazed.systems.hf._answering import Tagging
from unfazed.systems.onnx._model import OnnxSystem


class Tag(OnnxSystem, Tagging):
    """A BIO tag for each token, as `hf/tag` has it, from an ONNX graph."""

    name = "onnx/tag"
