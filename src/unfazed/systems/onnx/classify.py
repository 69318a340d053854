"""Sequence classification, a label for one text or for two, by a graph."""

from __future__ import annotations

from unfazed.systems.hf._answering import Classifying
from unfazed.systems.onnx._model import OnnxSystem


class Classify(OnnxSystem, Classifying):
    """The label with the highest score, as `hf/classify` has it, from an ONNX graph."""

    name = "onnx/classify"
