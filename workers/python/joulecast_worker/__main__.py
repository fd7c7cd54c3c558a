"""JSON lines in, JSON lines out (docs/worker-protocol.md), until `quit` or the end of input."""
import os
import signal
import sys


def write_error_line(text: str) -> None:
    """A line of standard error in which nothing steers a terminal: names of files and messages of libraries stand in it."""
    shown = "".join(c if c.isprintable() or c in "\n\t" else f"\\u{ord(c):04x}" for c in text)
    print("joulecast-python: " + shown, file=sys.stderr)


def main() -> int:
    """Serves requests from standard input on standard output; returns the exit status."""
    # A library that prints must not do it between our lines: the real standard output is ours alone, and what is printed goes to
    # standard error. Before anything else is imported, since imports print too.
    try:
        output = os.dup(1)
        os.dup2(2, 1)
    except OSError:
        write_error_line("standard output and standard error must be open")
        return 1
    # Ctrl-C ends us at once, in the middle of a C++ loop too; whoever asked and is gone shows as a failed write.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    try:
        import torch  # noqa: F401  The extension is linked against its libraries.
    except ImportError as error:
        write_error_line(f"{sys.executable} cannot import torch ({error}). Set JOULECAST_PYTHON to the python of an environment "
                         "with torch.")
        return 1
    try:
        from joulecast_worker import _native
    except ImportError as error:
        write_error_line(f"its extension does not load in {sys.executable} with torch {torch.__version__} ({error}). Build "
                         "joulecast with -DJOULECAST_TORCH=... of this environment.")
        return 1
    from joulecast_worker import build
    return _native.serve(build, 0, output)


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # Without the interpreter's own ending: threads of libraries may hold it, and there is nothing to save.
    os._exit(status)
