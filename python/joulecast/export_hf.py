"""A network of Hugging Face as a .pt2 file without weights: python -m joulecast.export_hf CONFIG_OR_NAME -o llama.pt2

`joulecast export-hf` runs this file with a Python that has torch and transformers, and that may have no package joulecast: so it
imports nothing of it. docs/guide/export-hf.md tells what it makes."""
from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import functools
import inspect
import json
import logging
import pathlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any
from unittest import mock

# torch.export takes sizes of 0 and 1 for constants: the example has more, the range of the batch begins at 1 all the same.
EXAMPLE_BATCH = 2
LARGEST_BATCH = 4096
# Where a configuration names no number of positions.
LONGEST_SEQUENCE = 131072
USUAL_IMAGE = 224
# Our name for sdpa without a mask of zeros: transformers makes one where it is traced, and none where it runs.
ATTENTION = "joulecast_sdpa"


class Failure(Exception):
    """What the user reads, without a traceback."""


@dataclasses.dataclass(frozen=True)
class Input:
    """A tensor of the call: numbers, or names of symbols, in `shape`."""
    name: str
    shape: tuple[int | str, ...]
    is_integer: bool = False
    window: int | None = None  # of a layer that looks back no further


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Of the example; those behind `--set` are free afterwards."""
    sequence: int = 128
    past: int = 128

    def of(self, symbol: int | str) -> int:
        if isinstance(symbol, int):
            return symbol
        return {"batch": EXAMPLE_BATCH, "past": self.past}.get(symbol, self.sequence)


def configuration(source: str) -> Any:
    """Of a config.json, a folder that holds one, or a model that transformers knows by name."""
    import transformers
    path = pathlib.Path(source)
    try:
        if path.is_file():
            json.loads(path.read_text())
        return transformers.AutoConfig.from_pretrained(source)
    except json.JSONDecodeError as error:
        raise Failure(f"cannot read {source}: it is no JSON ({error}). Give the config.json of a model") from error
    except Exception as error:  # each version of transformers has its own
        reason = f"cannot read the configuration {source}: {first_line(error.__cause__ or error)}. "
        if path.exists():
            raise Failure(reason + 'It needs a "model_type" that this version of transformers knows, and sizes that fit together') from error
        raise Failure(reason + "Give a config.json, a folder that holds one, or the name of a model that was downloaded before") from error


def network_class(config: Any, asked: str | None) -> Any:
    """That which the user names, or the configuration does, or else the usual one of its kind."""
    import transformers
    from transformers.models.auto import modeling_auto as auto
    kinds = [auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
             auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES, auto.MODEL_MAPPING_NAMES]
    if config.is_encoder_decoder:
        kinds = [auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES, *kinds]
    usual = [kind[config.model_type] for kind in kinds if config.model_type in kind]
    names = [asked] if asked else [*(config.architectures or []), *usual]
    for name in names:
        found = getattr(transformers, name, None) if isinstance(name, str) else None
        if found is not None and hasattr(found, "main_input_name"):
            return found
    what = f"no network {asked}" if asked else f"no network of model_type {config.model_type}"
    raise Failure(f"transformers {transformers.__version__} has {what}. Name one of its classes: --class LlamaForCausalLM")


@contextlib.contextmanager
def made_in(dtype: Any) -> Iterator[None]:
    import torch
    was = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(was)


def build(config: Any, network: Any, attention: str) -> Any:
    import transformers
    transformers.AttentionInterface.register(ATTENTION, transformers.AttentionInterface()["sdpa"])
    config._attn_implementation = ATTENTION if attention == "sdpa" and network._supports_sdpa else "eager"
    try:
        # Tensors have sizes alone, so there is nothing to draw at random; some ways of drawing ask for values.
        with mock.patch.object(transformers.PreTrainedModel, "initialize_weights", lambda *_, **__: None, create=True):
            return network(config).eval()
    except Exception as error:
        raise Failure(f"transformers cannot make {network.__name__} of this configuration: {first_line(error)}") from error


def text_config(config: Any) -> Any:
    return config.get_text_config(decoder=True)


def longest(config: Any) -> int:
    text = text_config(config)
    numbers = [getattr(text, name, None) for name in ("max_position_embeddings", "n_positions", "max_target_positions")]
    return next((number for number in numbers if isinstance(number, int) and number > 1), LONGEST_SEQUENCE)


def image(config: Any) -> Input:
    vision = getattr(config, "vision_config", config)
    size = getattr(vision, "image_size", None) or USUAL_IMAGE
    height, width = size if isinstance(size, (list, tuple)) else (size, size)
    return Input("pixel_values", ("batch", getattr(vision, "num_channels", 3), height, width))


def inputs_of(model: Any) -> list[Input]:
    """What forward() is called with, without a cache."""
    config, first = model.config, model.main_input_name
    if first == "input_ids":
        inputs = [Input(first, ("batch", "sequence"), True)]
    elif first == "pixel_values":
        inputs = [image(config)]
    elif first == "input_features" and hasattr(config, "max_source_positions"):
        inputs = [Input(first, ("batch", config.num_mel_bins, 2 * config.max_source_positions))]
    else:
        raise Failure(f"{type(model).__name__} takes {first}, whose size no configuration tells. Export it by hand: joulecast help exporting")
    if config.is_encoder_decoder and "decoder_input_ids" in inspect.signature(model.forward).parameters:
        text = "sequence" if first != "input_ids" else "decoder_sequence"
        inputs.append(Input("decoder_input_ids", ("batch", text), True))
    return inputs


def cache_word(model: Any) -> str:
    """transformers renamed the argument."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


def cache_inputs(model: Any, sizes: Sizes) -> list[Input]:
    """Keys and values of each layer, as a short text fills them. Layers with a window keep no more than that."""
    import torch
    name = type(model).__name__
    if model.config.is_encoder_decoder or model.main_input_name != "input_ids":
        raise Failure(f"--decode is for networks that read and write one text, which {name} is not")
    try:
        output = model(input_ids=torch.zeros(EXAMPLE_BATCH, 2, dtype=torch.long), use_cache=True)
    except Exception as error:
        raise Failure(f"--decode: {name} does not read a text of two tokens: {first_line(error)}") from error
    layers = getattr(output.get(cache_word(model)), "layers", None)
    if not layers or any(getattr(layer, "keys", None) is None for layer in layers):
        raise Failure(f"--decode: {name} does not keep keys and values of every layer, so its steps have no cache of that form")
    inputs = []
    for number, layer in enumerate(layers):
        window = window_of(layer)
        slots: int | str = window if window is not None and window <= sizes.past else "past"
        for part, tensor in (("keys", layer.keys), ("values", layer.values)):
            inputs.append(Input(f"{part}_{number}", ("batch", tensor.shape[1], slots, tensor.shape[3]), window=window))
    return inputs


def window_of(layer: Any) -> int | None:
    return layer.sliding_window if getattr(layer, "is_sliding", False) else None


@functools.cache
def slots_class() -> Any:
    from transformers.cache_utils import CacheLayerMixin

    class Slots(CacheLayerMixin):  # type: ignore[misc]
        """Keys and values of a layer, full but for the slot that the step writes: it copies nothing else."""

        def __init__(self, keys: Any, values: Any, slot: Any, past: int, is_sliding: bool) -> None:
            super().__init__()
            self.keys, self.values, self.slot = keys, values, slot
            self.past, self.is_sliding = past, is_sliding
            self.is_initialized = True

        def lazy_initialization(self, *_: Any) -> None: ...

        def update(self, keys: Any, values: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
            self.keys.index_copy_(2, self.slot, keys)
            self.values.index_copy_(2, self.slot, values)
            return self.keys, self.values

        def get_mask_sizes(self, *_: Any, **__: Any) -> tuple[int, int]:
            return self.keys.shape[2], 0

        def get_seq_length(self) -> int:
            return self.past

        def get_max_length(self) -> int:
            return self.keys.shape[2]

        get_max_cache_shape = get_max_length  # its name in older versions

    return Slots


def tensors_of(output: Any) -> tuple[Any, ...]:
    import torch
    from torch.utils._pytree import tree_leaves
    return tuple(leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor))


def reads(model: Any) -> None:
    """forward() becomes that of a whole text: tensors out, no cache."""
    own = model.forward
    fixed = {"use_cache": False} if "use_cache" in inspect.signature(own).parameters else {}

    @functools.wraps(own)
    def forward(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return tensors_of(own(*args, **kwargs, **fixed))
    model.forward = forward


def decodes(model: Any, cached: list[Input]) -> None:
    """forward() becomes a step: one token for each text, the slot that it goes to, keys and values of the tokens before it."""
    import transformers
    own, word = model.forward, cache_word(model)
    growing = next((place for place, given in enumerate(cached) if given.shape[2] == "past"), 0)

    def forward(input_ids: Any, slot: Any, cache: list[Any]) -> Any:
        past = cache[growing].shape[2] - 1
        layers = [slots_class()(keys, values, slot, past, given.window is not None)
                  for keys, values, given in zip(cache[::2], cache[1::2], cached[::2], strict=True)]
        return own(input_ids=input_ids, use_cache=True, **{word: transformers.Cache(layers=layers)}).logits
    model.forward = forward


def tensor_of(given: Input, sizes: Sizes) -> Any:
    import torch
    shape = [sizes.of(size) for size in given.shape]
    return torch.zeros(shape, dtype=torch.long if given.is_integer else torch.float32)


def limits(model: Any, cache: list[Input]) -> dict[str, int]:
    positions = longest(model.config)
    windows = [given.window for given in cache if given.window is not None and given.shape[2] == "past"]
    return {"batch": LARGEST_BATCH, "sequence": positions, "decoder_sequence": positions, "past": min([positions, *windows])}


def exported(model: Any, inputs: list[Input], cache: list[Input], sizes: Sizes) -> Any:
    """The program; a range that the network does not hold for is left for torch to find."""
    import torch
    from torch.export import Dim
    tensors = {given.name: tensor_of(given, sizes) for given in inputs}
    if cache:
        tensors["cache"] = [tensor_of(given, sizes) for given in cache]
    bounds = limits(model, cache)
    failure: Exception | None = None
    for ranged in (True, False):
        dims = {name: Dim(name, min=1 if name == "batch" else 2, max=high) if ranged or name == "batch" else Dim.AUTO
                for name, high in bounds.items()}

        def places(given: Input) -> dict[int, Any]:
            return {place: dims[size] for place, size in enumerate(given.shape) if isinstance(size, str)}
        shapes: dict[str, Any] = {given.name: places(given) for given in inputs}
        if cache:
            shapes["cache"] = [places(given) for given in cache]
        try:
            return torch.export.export(model, (), tensors, dynamic_shapes=shapes, strict=False)
        except Exception as error:
            failure = error
    raise Failure(f"torch.export cannot make a graph of {type(model).__name__}: {first_line(failure)}") from failure


def range_text(span: Any) -> str:
    """2-512; without an end where torch knows none."""
    return f"{span.lower}-{span.upper if span.upper < sys.maxsize else ''}"


def symbols_of(program: Any, inputs: list[Input]) -> dict[str, tuple[str, str]]:
    """torch calls them s77 and the like: that and the range, by our names."""
    names = set(program.graph_signature.user_inputs)
    tensors = [node.meta["val"] for node in program.graph.nodes if node.op == "placeholder" and node.name in names]
    symbols: dict[str, tuple[str, str]] = {}
    for given, tensor in zip(inputs, tensors, strict=True):
        for name, size in zip(given.shape, tensor.shape, strict=True):
            if isinstance(name, str) and not isinstance(size, int):
                symbols[name] = (str(size), range_text(program.range_constraints[size.node.expr]))
    return symbols


def tied(model: Any) -> list[list[str]]:
    """Names of parameters that are one tensor: no stored weights tell."""
    names: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    return [same for same in names.values() if len(same) > 1]


def without_weights(program: Any) -> Any:
    """The same graph with tensors of no storage: a forecast needs their sizes alone, and those are in the graph."""
    import torch

    def emptied(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        empty = torch.empty_like(value, device="meta")
        return torch.nn.Parameter(empty, value.requires_grad) if isinstance(value, torch.nn.Parameter) else empty
    light = copy.copy(program)
    light._state_dict = {name: emptied(value) for name, value in program.state_dict.items()}
    light._constants = {name: emptied(value) for name, value in program.constants.items()}
    light._example_inputs = None
    return light


def save(program: Any, path: pathlib.Path, note: dict[str, Any]) -> None:
    import torch
    try:
        torch.export.save(without_weights(program), path, extra_files={"joulecast.json": json.dumps(note)})
    except (OSError, RuntimeError) as error:
        raise Failure(f"cannot write {path}: {first_line(error)}") from error


@contextlib.contextmanager
def in_silence() -> Iterator[None]:
    """Without warnings and pages of logged tracebacks: what failed is raised."""
    was = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(was)


def first_line(error: BaseException | None) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]


def export(source: str, path: pathlib.Path, sizes: Sizes, decode: bool = False, network: str | None = None, attention: str = "sdpa") -> str:
    """Writes the file; what was made, for the user. Nothing is computed and no weight is made: tensors have sizes alone."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode(allow_non_fake_inputs=True), in_silence():
        config = configuration(source)
        kind = network_class(config, network)
        model = build(config, kind, attention)
        parameters = sum(parameter.numel() for parameter in model.parameters())
        cache = []
        if decode:
            # In 16 bits: experts are computed in no other when nobody traces.
            with made_in(torch.bfloat16):
                cache = cache_inputs(build(config, kind, attention), sizes)
        inputs = inputs_of(model)
        if decode:
            inputs = [Input("input_ids", ("batch", 1), True), Input("slot", (1,), True)]
            decodes(model, cache)
        else:
            reads(model)
        program = exported(model, inputs, cache, sizes)
        symbols = symbols_of(program, inputs + cache)
        note = {"symbols": {name: symbol for name, (symbol, _) in symbols.items()}, "tied": tied(model)}
        save(program, path, note)
    ranges = ", ".join(f"{name} {span}" for name, (_, span) in symbols.items())
    return f"{path}: {type(model).__name__}, {parameters:,} parameters; sizes (--set): {ranges}"


def parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("joulecast export-hf", description="A network of Hugging Face as a .pt2 file without weights.")
    parser.add_argument("model", metavar="CONFIG_OR_NAME", help="a config.json, a folder that holds one, or the name of a model that was downloaded before")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.pt2", type=pathlib.Path)
    parser.add_argument("--sequence", type=int, default=Sizes.sequence, metavar="N", help="tokens of the example [%(default)s]")
    parser.add_argument("--decode", action="store_true", help="one step that writes a token, with keys and values of those before it as inputs")
    parser.add_argument("--past", type=int, default=Sizes.past, metavar="N", help="with --decode: slots of the example's cache [%(default)s]")
    parser.add_argument("--class", dest="network", metavar="NAME", help="a class of transformers, as BertModel; without it, that which the configuration names")
    parser.add_argument("--attention", choices=("sdpa", "eager"), default="sdpa", help="[%(default)s]")
    options = parser.parse_args(words)
    if options.output.suffix != ".pt2":
        parser.error(f"{options.output}: the name of the file must end in .pt2")
    if min(options.sequence, options.past) < 2:
        parser.error("the example needs two tokens or more, and joulecast --set gives other numbers afterwards")
    return options


def main(words: Sequence[str] | None = None) -> int:
    options = parse(sys.argv[1:] if words is None else words)
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        print(f"joulecast export-hf: {sys.executable} cannot import {error.name}. Install it there: {sys.executable} -m pip install torch transformers; "
              "or name another Python by JOULECAST_PYTHON", file=sys.stderr)
        return 1
    try:
        print(export(options.model, options.output, Sizes(options.sequence, options.past), options.decode, options.network, options.attention))
    except Failure as error:
        print(f"joulecast export-hf: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
