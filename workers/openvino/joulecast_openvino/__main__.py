"""The worker for `joulecast profile --worker joulecast-openvino`."""
from joulecast_measuring import serve

WORKER = "joulecast-openvino"
MISSING = 'Install it with: pip install "openvino>=2026.4" onnx numpy'


def make_engine():
    from joulecast_openvino.engine import OpenVino
    return OpenVino()


def main():
    serve.main(WORKER, make_engine, MISSING)


if __name__ == "__main__":
    main()
