"""`onnx/read`: what `hf/read` does, from an ONNX graph."""

from __future__ import annotations

from unswayed.systems.hf.read import HfReader
from unswayed.systems.onnx import OnnxSystem


class OnnxReader(OnnxSystem, HfReader):
    """The best stretch of the context, as `hf/read` has it, from an ONNX graph."""

    name = "onnx/read"
