"""Graphs of the zoo with numbers for all sizes, as a worker is sent them."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

BIN = pathlib.Path(os.environ["JOULECAST_BUILD"]) / "bin"
ZOO = pathlib.Path(__file__).resolve().parents[2] / "zoo"
SIZES = {"batch": 1, "sequence": 32, "decoder_sequence": 16, "past": 48}
WORDS = {"Max": max, "Min": min}
EXPRESSION = re.compile(r"[^,\[\]{}=\"~]*\b(?:batch|sequence|decoder_sequence|past)\b[^,\[\]{}=\"~]*")


def names():
    return sorted(path.stem for path in ZOO.glob("*.pt2") if not path.stem.endswith(".train"))


def numbered(text, sizes):
    """Min(a, b) and Max(a, b) hold commas, so they are worked out first."""
    def inner(match):
        return str(eval(match.group(), WORDS, dict(sizes)))
    text = re.sub(r"\b(?:Max|Min)\([^()]*\)", inner, text)

    def whole(match):
        # A closing parenthesis of the call itself is no part of its last argument.
        expression = match.group()
        rest = ""
        while expression.count(")") > expression.count("("):
            expression, rest = expression.rstrip()[:-1], ")" + rest
        lead = re.match(r"\s*", expression).group()
        return lead + str(eval(expression.strip(), WORDS, dict(sizes))) + rest
    return EXPRESSION.sub(whole, text)


def graph(name, sizes=None):
    sizes = SIZES | (sizes or {})
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.graph.json"
        subprocess.run([BIN / "joulecast", "extract", name, "--graph", path], check=True, capture_output=True, timeout=120)
        given = json.loads(path.read_text())
    for item in given["inputs"]:
        item["type"] = numbered(item["type"], sizes)
    for node in given["nodes"]:
        node["operation"] = numbered(node["operation"], sizes)
        node["outputs"] = [numbered(text, sizes) for text in node.get("outputs", [])]
    given["symbols"] = {symbol: sizes[symbol] for symbol in given.get("symbols", {})}
    return given
