"""The networks of the zoo: how each is built, with which inputs, and what was published of it.

torchvision's networks are built by name. Hugging Face's are built from their published configuration, written out here, so nothing is
downloaded. U-Net and Darknet-19 are written here, after their papers. Every network is checked against its published number of parameters.
"""
import copy
import dataclasses
import types
from unittest import mock

import torch
import torchvision
import transformers

MAX_BATCH = 4096
# Sizes at which a network is exported. A user sets others.
EXAMPLE = {"batch": 2, "sequence": 128, "decoder_sequence": 128, "past": 128}


@dataclasses.dataclass(frozen=True)
class Input:
    """A tensor of the call: numbers, or names of symbols, in `shape`."""
    dtype: torch.dtype
    shape: tuple


@dataclasses.dataclass(frozen=True)
class Network:
    make: object
    """Input per argument of forward(); lists of them nest."""
    inputs: tuple
    parameters: int
    source: str
    """Largest value of each symbol but the batch; the smallest is 2, since torch.export fixes sizes of 0 and 1."""
    limits: dict = dataclasses.field(default_factory=dict)
    """Batch norm over a single value per channel is an error, so some networks cannot train on one image."""
    smallest_training_batch: int = 1
    """From the module that is traced to the one that PyTorch runs in the same mode."""
    as_it_runs: object = lambda module: module
    """The module to trace where it is another; None: `make` makes it."""
    make_traced: object = None

    def range(self, symbol, train):
        if symbol == "batch":
            return (self.smallest_training_batch if train else 1), MAX_BATCH
        return 2, self.limits[symbol]

    def symbols(self):
        tensors = torch.utils._pytree.tree_leaves(self.inputs)
        return sorted({size for tensor in tensors for size in tensor.shape if isinstance(size, str)})


TORCHVISION = f"torchvision {torchvision.__version__.split('+')[0]}"
TRANSFORMERS = f"transformers {transformers.__version__}"
TOKENS = Input(torch.int64, ("batch", "sequence"))


def image(size):
    return Input(torch.float32, ("batch", 3, size, size))


# The named tuples that two networks return in training; torch.export.save wants to know them.
for outputs in (torchvision.models.GoogLeNetOutputs, torchvision.models.InceptionOutputs):
    torch.utils._pytree._register_namedtuple(outputs, serialized_type_name=f"torchvision.models.{outputs.__name__}")


# --- torchvision ------------------------------------------------------------------------------------------------------------------------

def with_real_tensors(function):
    """RegNet computes its widths with tensors and asks for their values, which fake ones do not have."""
    def real(*arguments, **keywords):
        with torch.utils._python_dispatch._disable_current_modes(), torch.device("cpu"):
            return function(*arguments, **keywords)
    return real


torchvision.models.regnet.BlockParams.from_init_params = with_real_tensors(torchvision.models.regnet.BlockParams.from_init_params)

# Two auxiliary classifiers are left out of the published count.
UNPUBLISHED_PARAMETERS = {"googlenet": 6379984}


def fused_attention(self, query, key, value, need_weights=False):
    """What torch.nn.MultiheadAttention runs on a GPU in inference, batch first (native_multi_head_attention_cuda in ATen's
    transformers/cuda/attention.cu, torch 2.13). torch.export traces the form for training, whose tokens come first."""
    linear = torch.nn.functional.linear
    batch, tokens, width = query.shape
    parts = linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
    heads = [part.view(batch, tokens, self.num_heads, self.head_dim).transpose(1, 2) for part in parts]
    mixed = torch.nn.functional.scaled_dot_product_attention(*heads)
    return linear(mixed.transpose(1, 2).reshape(batch, tokens, width), self.out_proj.weight, self.out_proj.bias), None


def with_fused_attention(module):
    if module.training:
        return module
    for inner in module.modules():
        if isinstance(inner, torch.nn.MultiheadAttention):
            inner.forward = types.MethodType(fused_attention, inner)
    return module


def torchvision_network(name, size):
    arguments = {"googlenet": {"init_weights": False}, "inception_v3": {"init_weights": False}}.get(name, {})
    published = torchvision.models.get_model_weights(name).DEFAULT.meta["num_params"]
    # One pixel is left of an image of 32 after five halvings, and in Inception's auxiliary classifier.
    smallest = 2 if size == 32 or name == "inception_v3" else 1
    return Network(lambda: torchvision.models.get_model(name, weights=None, **arguments), (image(size),),
                   published + UNPUBLISHED_PARAMETERS.get(name, 0), TORCHVISION, smallest_training_batch=smallest,
                   as_it_runs=with_fused_attention)


# Pixels of the plain name's images; torchvision's own evaluation size where that is not 224. Swin v2 and EfficientNet v2 are evaluated
# larger, but published measurements of them take 224.
SIZES = {"inception_v3": 299, "efficientnet_b4": 380}
IMAGE_NETWORKS = [
    "alexnet", "alexnet@299", "convnext_tiny", "convnext_base", "convnext_base@384", "densenet121", "densenet201", "efficientnet_b0",
    "efficientnet_b4", "efficientnet_v2_m", "googlenet", "inception_v3", "mnasnet1_0", "mobilenet_v2", "mobilenet_v3_large",
    "mobilenet_v3_small", "regnet_y_400mf", "regnet_y_8gf", "resnet18", "resnet18@32", "resnet18@299", "resnet34", "resnet34@56",
    "resnet34@299", "resnet50", "resnet50@299", "resnet101", "resnet101@299", "resnet152", "resnext50_32x4d", "shufflenet_v2_x1_0",
    "squeezenet1_1", "squeezenet1_1@227", "swin_b", "swin_t", "swin_v2_b", "swin_v2_t", "vgg11", "vgg16", "vit_b_16", "vit_b_32",
    "wide_resnet50_2"]


# --- written here -----------------------------------------------------------------------------------------------------------------------

def convolution_block(channels_in, channels_out, kernel, activation):
    return torch.nn.Sequential(
        torch.nn.Conv2d(channels_in, channels_out, kernel, padding=kernel // 2, bias=False), torch.nn.BatchNorm2d(channels_out),
        activation())


class Darknet19(torch.nn.Module):
    """Redmon and Farhadi, YOLO9000 (2017), table 6: nineteen convolutions, five poolings, a thousand classes."""
    # Channels and kernel of each convolution; "pool" halves the image.
    LAYERS = [(32, 3), "pool", (64, 3), "pool", (128, 3), (64, 1), (128, 3), "pool", (256, 3), (128, 1), (256, 3), "pool",
              (512, 3), (256, 1), (512, 3), (256, 1), (512, 3), "pool", (1024, 3), (512, 1), (1024, 3), (512, 1), (1024, 3)]

    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for layer in self.LAYERS:
            if layer == "pool":
                layers.append(torch.nn.MaxPool2d(2, 2))
            else:
                layers.append(convolution_block(channels, *layer, lambda: torch.nn.LeakyReLU(0.1)))
                channels = layer[0]
        self.features = torch.nn.Sequential(*layers)
        self.classifier = torch.nn.Conv2d(channels, 1000, 1)

    def forward(self, image):
        return torch.nn.functional.adaptive_avg_pool2d(self.classifier(self.features(image)), 1).flatten(1)


class UNet(torch.nn.Module):
    """Ronneberger et al., U-Net (2015), with padded convolutions and batch norm as it is used today; two classes per pixel."""

    def __init__(self, widths=(64, 128, 256, 512, 1024), classes=2):
        super().__init__()

        def double(channels_in, channels_out):
            return torch.nn.Sequential(convolution_block(channels_in, channels_out, 3, torch.nn.ReLU),
                                       convolution_block(channels_out, channels_out, 3, torch.nn.ReLU))
        self.down = torch.nn.ModuleList(double(a, b) for a, b in zip((3, *widths), widths))
        self.pool = torch.nn.MaxPool2d(2)
        self.up = torch.nn.ModuleList(torch.nn.ConvTranspose2d(2 * width, width, 2, stride=2) for width in widths[-2::-1])
        self.merge = torch.nn.ModuleList(double(2 * width, width) for width in widths[-2::-1])
        self.head = torch.nn.Conv2d(widths[0], classes, 1)

    def forward(self, image):
        features, skipped = image, []
        for level, down in enumerate(self.down):
            features = down(self.pool(features) if level else features)
            skipped.append(features)
        skipped.pop()
        for up, merge in zip(self.up, self.merge):
            features = merge(torch.cat((skipped.pop(), up(features)), dim=1))
        return self.head(features)


# --- Hugging Face -----------------------------------------------------------------------------------------------------------------------

class BertEncoder(transformers.BertModel):
    """Without a head: token ids to the last hidden state and the pooled output."""

    def forward(self, input_ids):
        output = super().forward(input_ids)
        return output.last_hidden_state, output.pooler_output


class Prefill:
    """Token ids to logits, without a cache."""

    def forward(self, input_ids):
        return super().forward(input_ids=input_ids, use_cache=False).logits


class StaticLayer(transformers.cache_utils.CacheLayerMixin):
    """Keys and values (batch, heads, past, head size) in memory that stays; those of the token that is decoded go into the last place,
    as serving engines write them. transformers' own DynamicLayer copies all that is cached for every token."""

    def __init__(self, keys, values):
        super().__init__()
        self.keys, self.values, self.is_initialized = keys, values, True

    def lazy_initialization(self, key_states, value_states):
        raise NotImplementedError

    def update(self, key_states, value_states, *_, **__):
        last = self.get_seq_length()
        self.keys.narrow(2, last, 1).copy_(key_states)
        self.values.narrow(2, last, 1).copy_(value_states)
        return self.keys, self.values

    def get_mask_sizes(self, query_length):
        return self.keys.shape[2], 0

    def get_seq_length(self):
        return self.keys.shape[2] - 1

    def get_max_length(self):
        return self.keys.shape[2]


class Decode:
    """One further token per sequence: its ids (batch, 1) and a cache, keys and values of each layer, to logits. The cache has `past`
    places, the last of them for this token."""

    def forward(self, input_ids, cache):
        layers = transformers.cache_utils.Cache([StaticLayer(keys, values) for keys, values in cache])
        return super().forward(input_ids=input_ids, past_key_values=layers, use_cache=True).logits


class Gpt2(Prefill, transformers.GPT2LMHeadModel):
    pass


class Gpt2Decode(Decode, transformers.GPT2LMHeadModel):
    pass


class Opt(Prefill, transformers.OPTForCausalLM):
    pass


class OptDecode(Decode, transformers.OPTForCausalLM):
    pass


class Qwen2(Prefill, transformers.Qwen2ForCausalLM):
    pass


class Qwen2Decode(Decode, transformers.Qwen2ForCausalLM):
    pass


class Llama(Prefill, transformers.LlamaForCausalLM):
    pass


class LlamaDecode(Decode, transformers.LlamaForCausalLM):
    pass


class Qwen3(Prefill, transformers.Qwen3ForCausalLM):
    pass


class Qwen3Decode(Decode, transformers.Qwen3ForCausalLM):
    pass


class T5(transformers.T5ForConditionalGeneration):
    """Encoder and decoder in one call: both token ids to logits."""

    def forward(self, input_ids, decoder_input_ids):
        return super().forward(input_ids=input_ids, decoder_input_ids=decoder_input_ids, use_cache=False).logits


class Whisper(transformers.WhisperForConditionalGeneration):
    """Encoder and decoder in one call: thirty seconds of mel spectrogram and token ids to logits."""

    def forward(self, input_features, decoder_input_ids):
        return super().forward(input_features=input_features, decoder_input_ids=decoder_input_ids, use_cache=False).logits


# Last of the classes: the files name source lines, so what moves these makes all files anew.
class SponnerDarknet19(torch.nn.Module):
    """Sponner, Waschneck and Kumar (Electronics 11, 2316, 2022), table 4: the 22 layers of their test network, after Darknet-19.

    Padding follows from the table's sizes. It contradicts itself in one place: conv2d_39 has F:256, but an output of 512 channels, which
    conv2d_40 takes; 512 is built here. No batch norm and no activation before the last softmax stand there, so none is; convolutions
    have a bias, as Keras' have, from which the network was taken.
    """
    # Channels, kernel and padding of each convolution; "pool" halves the image.
    LAYERS = [(32, 3, 0), "pool", (64, 3, 1), "pool", (128, 3, 1), (64, 1, 0), (128, 3, 1), "pool", (256, 3, 1), (128, 1, 0),
              (256, 3, 1), "pool", (512, 3, 0), (256, 1, 0), (512, 3, 0), (512, 1, 0), (512, 3, 0), "pool", (1000, 1, 0)]

    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for layer in self.LAYERS:
            if layer == "pool":
                layers.append(torch.nn.MaxPool2d(2, 2))
            else:
                layers.append(torch.nn.Conv2d(channels, layer[0], layer[1], padding=layer[2]))
                channels = layer[0]
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, image):
        return torch.nn.functional.adaptive_avg_pool2d(self.layers(image), 1).flatten(1).softmax(1)


def bert(layers, hidden, heads):
    return transformers.BertConfig(
        vocab_size=30522, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=4 * hidden,
        max_position_embeddings=512, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, use_cache=False)


GPT2 = transformers.GPT2Config(vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12, use_cache=False)
OPT = transformers.OPTConfig(vocab_size=50272, hidden_size=2048, num_hidden_layers=24, ffn_dim=8192, num_attention_heads=32,
                             max_position_embeddings=2048, word_embed_proj_dim=2048, dropout=0.1, attention_dropout=0.0, layerdrop=0.0)
QWEN2 = transformers.Qwen2Config(
    vocab_size=151936, hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12, num_key_value_heads=2,
    max_position_embeddings=131072, rms_norm_eps=1e-6, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 1e6})
QWEN3_8B = transformers.Qwen3Config(
    vocab_size=151936, hidden_size=4096, intermediate_size=12288, num_hidden_layers=36, num_attention_heads=32, num_key_value_heads=8,
    head_dim=128, max_position_embeddings=40960, rms_norm_eps=1e-6, tie_word_embeddings=False,
    rope_parameters={"rope_type": "default", "rope_theta": 1e6})
LLAMA_8B = transformers.LlamaConfig(
    vocab_size=128256, hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8,
    head_dim=128, max_position_embeddings=131072, rms_norm_eps=1e-5, tie_word_embeddings=False,
    rope_parameters={"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 8192})
LLAMA = transformers.LlamaConfig(
    vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8,
    head_dim=64, max_position_embeddings=131072, rms_norm_eps=1e-5, tie_word_embeddings=True,
    rope_parameters={"rope_type": "llama3", "rope_theta": 5e5, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 8192})
T5_SMALL = transformers.T5Config(vocab_size=32128, d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_heads=8, dropout_rate=0.1)
WHISPER_TINY = transformers.WhisperConfig(
    vocab_size=51865, num_mel_bins=80, d_model=384, encoder_layers=4, encoder_attention_heads=6, encoder_ffn_dim=1536, decoder_layers=4,
    decoder_attention_heads=6, decoder_ffn_dim=1536, max_source_positions=1500, max_target_positions=448, dropout=0.0)


# Our name for sdpa without a mask where no token is left out: transformers makes one where it is traced, and none where it runs.
# With it PyTorch takes other kernels: of BERT's, whose last stride is 0, no fused one at all.
ATTENTION = "joulecast_sdpa"
transformers.AttentionInterface.register(ATTENTION, transformers.AttentionInterface()["sdpa"])


def transformer(network, config, inputs, parameters, limits, attention=ATTENTION):
    def make(implementation):
        own = copy.deepcopy(config)
        own._attn_implementation = implementation
        return network(own)
    return Network(lambda: make(attention), inputs, parameters, TRANSFORMERS, limits, make_traced=lambda: make("sdpa"))


def language_models(name, prefill, decode, config, parameters, layers, heads, head_size, longest):
    """Prefill and decode of one network."""
    cached = Input(torch.float32, ("batch", heads, "past", head_size))
    step = (Input(torch.int64, ("batch", 1)), [(cached, cached)] * layers)
    return {name: transformer(prefill, config, (TOKENS,), parameters, {"sequence": longest}),
            f"{name}-decode": transformer(decode, config, step, parameters, {"past": longest})}


# Rows of datasets/ are of these.
TRACED = ["bert-base", "bert-large", "gpt2", "llama-3.2-1b", "whisper-tiny", "vit_b_16", "vit_b_32"]


def traced(network):
    """As torch.export has it where nothing is done about it."""
    return dataclasses.replace(network, make=network.make_traced or network.make, as_it_runs=lambda module: module)


def networks():
    """Every network by name, in the order of the table in zoo/README.md."""
    known = {}
    for name in IMAGE_NETWORKS:
        base, _, size = name.partition("@")
        known[name] = torchvision_network(base, int(size or SIZES.get(base, 224)))
    known["darknet19"] = Network(Darknet19, (image(224),), 20842376, "tools/zoo_networks.py")
    known["darknet19@sponner"] = Network(SponnerDarknet19, (image(224),), 6425704, "tools/zoo_networks.py")
    known["unet"] = Network(UNet, (image(256),), 31037698, "tools/zoo_networks.py")
    known["bert-base"] = transformer(BertEncoder, bert(12, 768, 12), (TOKENS,), 109482240, {"sequence": 512})
    known["bert-large"] = transformer(BertEncoder, bert(24, 1024, 16), (TOKENS,), 335141888, {"sequence": 512})
    known |= language_models("gpt2", Gpt2, Gpt2Decode, GPT2, 124439808, 12, 12, 64, 1024)
    known |= language_models("opt-1.3b", Opt, OptDecode, OPT, 1315758080, 24, 32, 64, 2048)
    known |= language_models("qwen2-1.5b", Qwen2, Qwen2Decode, QWEN2, 1543714304, 28, 2, 128, 131072)
    known |= language_models("qwen3-8b", Qwen3, Qwen3Decode, QWEN3_8B, 8190735360, 36, 8, 128, 40960)
    known |= language_models("llama-3.2-1b", Llama, LlamaDecode, LLAMA, 1235814400, 16, 8, 64, 131072)
    known |= language_models("llama-3.1-8b", Llama, LlamaDecode, LLAMA_8B, 8030261248, 32, 8, 128, 131072)
    known["t5-small"] = transformer(T5, T5_SMALL, (TOKENS, Input(torch.int64, ("batch", "decoder_sequence"))), 60506624,
                                    {"sequence": 4096, "decoder_sequence": 4096}, "sdpa")  # its mask holds the bias of positions
    known["whisper-tiny"] = transformer(Whisper, WHISPER_TINY, (Input(torch.float32, ("batch", 80, 3000)), TOKENS), 37760640,
                                        {"sequence": 448})
    return known | {f"{name}@traced": traced(known[name]) for name in TRACED}


NETWORKS = networks()


def build(name, sizes=None, device="cpu", train=False):
    """The network and its example inputs, with `sizes` for some of its symbols. Call it under FakeTensorMode: then no weight is ever
    allocated."""
    network = NETWORKS[name]
    sizes = EXAMPLE | (sizes or {})
    # trunc_normal_ asks tensors for their values, which fake ones do not have; nothing here needs initial values.
    with mock.patch("torch.nn.init.trunc_normal_", lambda tensor, *_, **__: tensor), torch.device(device):
        module = network.make()
        inputs = torch.utils._pytree.tree_map(
            lambda tensor: torch.zeros([sizes.get(size, size) for size in tensor.shape], dtype=tensor.dtype), network.inputs)
    count = sum(parameter.numel() for parameter in module.parameters())
    if count != network.parameters:
        raise RuntimeError(f"{name} has {count} parameters, but {network.parameters} were published")
    return network.as_it_runs(module.train(train)), inputs
