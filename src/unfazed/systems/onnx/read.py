"""Extractive question answering, the stretch of the context that a graph points to."""

from __future__ import annotations

from unfazed.systems.hf._answering import Reading
from unfazed.systems.onnx._model import OnnxSystem


class Read(OnnxSystem, Reading):
    """The best stretch of the context, as `hf/read` has it, from an ONNX graph."""

    name = "onnx/read"
