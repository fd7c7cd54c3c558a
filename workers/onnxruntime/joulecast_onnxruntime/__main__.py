"""The worker for `joulecast profile --worker joulecast-onnxruntime`."""
from joulecast_measuring import serve

WORKER = "joulecast-onnxruntime"
MISSING = 'Install it with: pip install "onnxruntime>=1.31" onnx numpy'


def make_engine():
    from joulecast_onnxruntime.engine import OnnxRuntime
    return OnnxRuntime()


def main():
    serve.main(WORKER, make_engine, MISSING)


if __name__ == "__main__":
    main()
