"""joulecast-onnxruntime: measures operations and networks as ONNX Runtime runs them. docs/onnxruntime.md tells how."""
