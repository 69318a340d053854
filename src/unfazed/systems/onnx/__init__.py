"""Models that were exported to ONNX, asked through ONNX Runtime on the CPU, without torch. One file a kind."""
