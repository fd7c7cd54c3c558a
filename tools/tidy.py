#!/usr/bin/env python3
"""Runs clang-tidy over a compilation database, but not over what it found clean before.

    tools/tidy.py build/tidy --clang-tidy PATH --root . --jobs 2 --cache FOLDER [--pattern REGEX] [-- ARGUMENT...]

What clang-tidy says of a file depends on that file and all it includes, on the command, the configuration, the program and
the headers of the system. A hash of all of them names an empty file in the cache where it said nothing; 580 files take ten
minutes on two cores, and 4 s where none differs. Only what is clean is remembered. A file whose includes cannot all be
found is checked each time.

Prints what clang-tidy says of each file with findings, then "N files: M checked, K with findings". Status 1: findings.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


class Includes:
    """The files of the project that a file takes in, by what their lines say: also behind an #if that is not taken."""

    def __init__(self):
        self.direct = {}  # by file and folders: files, or None where one was not found
        self.digests = {}

    def of(self, file, folders):
        """All of them with the file itself; None where one is in none of the folders."""
        found, waiting = set(), [file]
        while waiting:
            one = waiting.pop()
            if one in found:
                continue
            found.add(one)
            inside = self._direct(one, folders)
            if inside is None:
                return None
            waiting += inside
        return found

    def digest(self, file):
        if file not in self.digests:
            self.digests[file] = hashlib.sha256(file.read_bytes()).digest()
        return self.digests[file]

    def _direct(self, file, folders):
        key = (file, folders)
        if key not in self.direct:
            paths = []
            for name in INCLUDE.findall(file.read_bytes()):
                places = (folder / name.decode() for folder in (file.parent, *folders))
                path = next((place.resolve() for place in places if place.is_file()), None)
                paths.append(path)
            self.direct[key] = None if None in paths else paths
        return self.direct[key]


class Entry:
    """One file of the compilation database."""

    def __init__(self, entry):
        self.directory = pathlib.Path(entry["directory"])
        self.file = (self.directory / entry["file"]).resolve()
        self.command = entry["command"]
        words = shlex.split(self.command)
        folders = [word[2:] for word in words if word.startswith("-I") and len(word) > 2]
        folders += [after for word, after in zip(words, words[1:]) if word in ("-I", "-isystem", "-iquote")]
        self.folders = tuple(self.directory / folder for folder in folders)


def output_of(command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def surroundings(arguments):
    """Hash of what all files have in common."""
    common = hashlib.sha256()
    common.update(output_of([arguments.clang_tidy, "--version"]))
    common.update(" ".join(arguments.extra).encode())
    for configuration in sorted(arguments.root.glob("**/.clang-tidy")):
        common.update(configuration.read_bytes())
    # Headers of the system come with these.
    packages = output_of(["dpkg-query", "-W", "-f", "${Package} ${Version}\n"])
    common.update(b"\n".join(line for line in packages.splitlines() if b"-dev" in line or b"libstdc++" in line))
    common.update(output_of(["c++", "--version"]))
    return common.digest()


def key_of(entry, includes, common, root):
    """None where what it includes is not known."""
    files = includes.of(entry.file, entry.folders)
    if files is None:
        return None
    whole = hashlib.sha256(common)
    whole.update(entry.command.replace(str(root), ".").encode())
    for file in sorted(files):
        whole.update(str(file).replace(str(root), ".").encode() + b"\0" + includes.digest(file))
    return whole.hexdigest()


def check(arguments, entry):
    """What clang-tidy says, and whether that is nothing."""
    command = [arguments.clang_tidy, "-p", str(arguments.build), "--quiet", *arguments.extra, str(entry.file)]
    ran = subprocess.run(command, capture_output=True, text=True)
    is_clean = ran.returncode == 0 and not re.search(r"(warning|error): ", ran.stdout + ran.stderr)
    return ran.stdout + ran.stderr, is_clean


def arguments_of_command():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder of compile_commands.json")
    parser.add_argument("--clang-tidy", required=True)
    parser.add_argument("--root", type=pathlib.Path, required=True, help="of the project")
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--pattern", default="", help="of paths below the root")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:end])
    arguments.extra = words[end + 1 :]  # for clang-tidy
    arguments.root = arguments.root.resolve()
    return arguments


def main():
    arguments = arguments_of_command()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    common, includes = surroundings(arguments), Includes()
    waiting, files = [], 0
    for entry in map(Entry, json.loads((arguments.build / "compile_commands.json").read_text())):
        if not entry.file.is_relative_to(arguments.root):
            continue
        if not re.match(arguments.pattern, str(entry.file.relative_to(arguments.root))):
            continue
        files += 1
        key = key_of(entry, includes, common, arguments.root)
        if key is None or not (arguments.cache / key).exists():
            waiting.append((entry, key))
    with_findings = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (entry, key), (said, is_clean) in zip(waiting, pool.map(lambda one: check(arguments, one[0]), waiting)):
            if is_clean and key is not None:
                (arguments.cache / key).touch()
            if not is_clean:
                with_findings += 1
                print(said, flush=True)
    print(f"{files} files: {len(waiting)} checked, {with_findings} with findings")
    return 1 if with_findings else 0


if __name__ == "__main__":
    sys.exit(main())
