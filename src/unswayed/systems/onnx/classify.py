"""`onnx/classify`: what `hf/classify` does, from an ONNX graph."""

from __future__ import annotations

from unswayed.systems.hf.classify import HfClassifier
from unswayed.systems.onnx import OnnxSystem


class OnnxClassifier(OnnxSystem, HfClassifier):
    """The label with the highest score, as `hf/classify` has it, from an ONNX graph."""

    name = "onnx/classify"
