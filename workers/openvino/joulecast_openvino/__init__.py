"""joulecast-openvino: measures operations and networks as OpenVINO runs them on a CPU. docs/openvino.md tells how."""
