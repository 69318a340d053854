"""`onnx/tag`: what `hf/tag` does, from an ONNX graph."""

from __future__ import annotations

from unswayed.systems.hf.tag import HfTagger
from unswayed.systems.onnx import OnnxSystem


class OnnxTagger(OnnxSystem, HfTagger):
    """A BIO tag for each token, as `hf/tag` has it, from an ONNX graph."""

    name = "onnx/tag"
