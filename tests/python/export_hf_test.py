"""Networks of Hugging Face out of their configurations, against the networks themselves. The configurations are ours, and small."""
import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import joulecast
from joulecast import export_hf

try:
    import torch
    import transformers
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode
except ImportError as error:
    raise unittest.SkipTest(f"export-hf needs torch and transformers: {error}") from error

DECODER = {"vocab_size": 500, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
           "num_key_value_heads": 2, "max_position_embeddings": 512}
ENCODER = {"vocab_size": 500, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
           "max_position_embeddings": 256}
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], **DECODER}
QWEN2 = {"model_type": "qwen2", "tie_word_embeddings": True, **DECODER}
GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 500, "n_embd": 64, "n_layer": 2, "n_head": 4,
        "n_positions": 512, "bos_token_id": 0, "eos_token_id": 0}
MISTRAL = {"model_type": "mistral", "sliding_window": 32, **DECODER}
BERT = {"model_type": "bert", **ENCODER}
VIT = {"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 64, "intermediate_size": 128,
       "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 48, "patch_size": 16}
BATCH, SEQUENCE, PAST = 3, 20, 40


def module(config):
    """The network itself, with weights."""
    config = transformers.AutoConfig.for_model(**config)
    return export_hf.network_class(config, None)(config).eval()


def counted(run):
    # As products: torch does not count the CPU's fused kernel.
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def tokens(length):
    return torch.zeros(BATCH, length, dtype=torch.long)


class Exported(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def written(self, config, **wanted):
        source = self.folder / "config.json"
        source.write_text(json.dumps(config))
        file = self.folder / "network.pt2"
        self.said = export_hf.export(str(source), file, export_hf.Sizes(), **wanted)
        return file

    def failure(self, config, *words):
        """What the command line says of it; its status is 1."""
        source = self.folder / "config.json"
        source.write_text(config if isinstance(config, str) else json.dumps(config))
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            self.assertEqual(export_hf.main([str(source), "-o", str(self.folder / "network.pt2"), *words]), 1)
        self.assertEqual(len(told.getvalue().splitlines()), 1, told.getvalue())
        return told.getvalue()

    def test_a_text_that_is_read_costs_what_torch_counts(self):
        for config in (LLAMA, QWEN2, GPT2, BERT):
            with self.subTest(config["model_type"]):
                forecast = joulecast.extract(self.written(config), batch=BATCH, set={"sequence": SEQUENCE})
                self.assertEqual(forecast.nodes_without_record, 0)
                self.assertEqual(forecast.flops, counted(lambda: module(config)(tokens(SEQUENCE))))
                self.assertEqual([call.op for call in forecast.operations if "attention" in call.op], ["aten::scaled_dot_product_attention"])

    def test_a_text_is_read_without_a_cache(self):
        calls = [call.op for call in joulecast.extract(self.written(GPT2), batch=1).operations]
        self.assertNotIn("aten::cat", calls)

    def test_a_range_that_torch_finds_may_have_no_end(self):
        # Learned positions of an encoder end before max_position_embeddings: torch finds where, if it can.
        self.written({"model_type": "roberta", **ENCODER})
        self.assertRegex(self.said, r"sequence 2-\d*$")

    def test_an_image_costs_what_torch_counts(self):
        forecast = joulecast.extract(self.written(VIT), batch=BATCH)
        self.assertEqual(forecast.nodes_without_record, 0)
        self.assertEqual(forecast.flops, counted(lambda: module(VIT)(torch.zeros(BATCH, 3, 48, 48))))

    def test_a_step_costs_what_torch_counts_and_copies_no_cache(self):
        for config in (LLAMA, GPT2):
            with self.subTest(config["model_type"]):
                forecast = joulecast.extract(self.written(config, decode=True), batch=BATCH, set={"past": PAST})
                network = module(config)
                word = export_hf.cache_word(network)
                cache = network(tokens(PAST - 1), use_cache=True)[word]
                self.assertEqual(forecast.nodes_without_record, 0)
                self.assertEqual(forecast.flops, counted(lambda: network(tokens(1), use_cache=True, **{word: cache})))
                whole = BATCH * PAST * 64 * 4  # keys of a layer of gpt2, in bytes
                moved = [call.op for call in forecast.operations if "attention" not in call.op and "linear" not in call.op
                         and "addmm" not in call.op and call.bytes_written >= whole * call.count // 2]
                self.assertEqual(moved, [])

    def test_a_batch_of_one_is_as_good_as_any(self):
        for decode in (False, True):
            file = self.written(LLAMA, decode=decode)
            flops = [joulecast.extract(file, batch=batch).flops for batch in (1, 4)]
            self.assertEqual(flops[1], 4 * flops[0])

    def test_a_layer_with_a_window_has_as_many_slots(self):
        forecast = joulecast.extract(self.written(MISTRAL, decode=True), batch=1)
        attention = [call.signature for call in forecast.operations if "attention" in call.op]
        self.assertEqual(len(attention), 1)
        self.assertIn("key=f32[1,2,32,16]", attention[0])
        self.assertNotIn("past", self.said)

    def test_weights_are_not_written(self):
        file = self.written({**LLAMA, "hidden_size": 2048, "intermediate_size": 8192})
        # Two tables and a norm; in each layer q, o, k and v (half as wide), three products of the MLP, two norms.
        layer = 3 * 2048 * 2048 + 3 * 2048 * 8192 + 2 * 2048
        self.assertIn(f"{2 * 500 * 2048 + 2048 + 2 * layer:,} parameters", self.said)
        self.assertLess(file.stat().st_size, 1_000_000)

    def test_the_class_is_the_users_before_the_configurations(self):
        self.written(BERT, network="BertModel")
        self.assertIn("BertModel", self.said)
        self.assertIn("no network BertFor", self.failure(BERT, "--class", "BertFor"))

    def test_eager_attention_is_products_and_a_softmax(self):
        forecast = joulecast.extract(self.written(GPT2, attention="eager"), batch=1)
        names = {call.op for call in forecast.operations}
        self.assertIn("aten::softmax.int", names)
        self.assertNotIn("aten::scaled_dot_product_attention", names)

    def test_what_cannot_be_exported_is_told_in_a_line(self):
        self.assertIn("it is no JSON", self.failure("{"))
        self.assertIn("model_type", self.failure({"hidden_size": 64}))
        self.assertIn("--decode", self.failure(BERT, "--decode"))
        self.assertIn("--decode", self.failure(VIT, "--decode"))
        self.assertIn("number of attention heads (5)", self.failure({**LLAMA, "num_attention_heads": 5}))


if __name__ == "__main__":
    unittest.main()
