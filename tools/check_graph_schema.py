"""Checks docs/graph.schema.json against the vectors that the reader is tested with, and against files it wrote.

usage: check_graph_schema.py SCHEMA VECTORS [FILE.graph.json...]

Exits with 77 (skipped) where the package jsonschema is not installed.
"""

import json
import sys

try:
    import jsonschema
except ImportError:
    print("jsonschema is not installed")
    sys.exit(77)


def main(schema_path, vectors_path, *files):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = 0
    with open(vectors_path, encoding="utf-8") as file:
        vectors = json.load(file)
    for vector in vectors:
        if validator.is_valid(vector["graph"]) != vector["schema_accepts"]:
            print(f"{vector['name']}: the schema should {'' if vector['schema_accepts'] else 'not '}accept it")
            wrong += 1
    for path in files:
        with open(path, encoding="utf-8") as file:
            for error in validator.iter_errors(json.load(file)):
                print(f"{path}: {error.message[:200]}")
                wrong += 1
    print(f"{len(vectors)} vectors and {len(files)} files, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
