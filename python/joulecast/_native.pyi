"""The C++ side: verbs of the program with their answers as JSON text, and meters."""

class Error(RuntimeError):
    """What was asked for cannot be done; the text says what failed, on what, and what to do."""

class UsageError(Error, ValueError):
    """An argument is wrong."""

def ask(verb: str, words: list[str]) -> tuple[int, str, list[str]]:
    """Exit status, standard output and what was said beside it, of `joulecast VERB WORDS`. Releases the GIL."""

def ship_from(folder: str) -> None:
    """The folder that holds zoo/ and predictors/."""

class PredictService:
    """Answers requests (`joulecast predict --stdin`) from what stays loaded. Several threads may ask at once."""

    def __init__(self, device: str, predictor: str, database: str, strict: bool) -> None: ...
    def answer(self, request: str) -> str:
        """One object of JSON for one; what cannot be answered has "error" and "status". Releases the GIL."""

class Recording:
    """A meter that is read in a thread of its own, from start() to stop(). Without a meter it only knows why."""

    def __init__(self, meter: str, for_gpu: bool, gpu: str) -> None: ...
    @property
    def meter(self) -> str: ...
    @property
    def missing_reason(self) -> str: ...
    def start(self, period_s: float) -> None: ...
    def stop(self, linger_s: float) -> None: ...
    def between(self, start_s: float, end_s: float) -> tuple[float, float, float, str]:
        """Joules, mean and highest watts, why not; NaN for what is not known."""
    def samples(self) -> list[tuple[float, float]]:
        """(seconds on the steady clock, watts)."""
