#!/usr/bin/env python3
"""Checks the rules of the layout: who may include whom, where vendor headers may stand, and that no file is lost.

usage: layering.py ROOT        prints one line per breach, exits 1 when there is any
"""
import pathlib
import re
import sys

# The table of the layers: a folder may include itself and these.
MAY_INCLUDE = {
    "support": [],
    "space": ["support"],
    "codegen": ["support", "space"],
    "logs": ["support", "space"],
    "measure": ["support", "space", "codegen", "logs"],
    "cost_model": ["support", "space"],
    "configs": ["support", "space", "logs"],
    "deploy": ["support", "space", "logs", "configs"],
    "tuner": ["support", "space", "codegen", "logs", "measure", "cost_model", "configs", "deploy"],
    "bench": ["support", "space", "codegen", "logs", "measure", "cost_model", "configs", "deploy", "tuner"],
    "tests": ["support", "space", "codegen", "logs", "measure", "cost_model", "configs", "deploy", "tuner", "bench"],
}

# Single headers beyond those: libraries opened at run time, each a library of its own without isl behind it.
MAY_ALSO_INCLUDE = {
    "deploy": ["codegen/nvrtc.h", "measure/cuda_library.h"],
}

# Vendor headers that one file pair of the product may include; the library of deployed programs has its own, which
# opens what the tool links.
ONE_PAIR = {
    "NVRTC": re.compile(r"nvrtc\.h$"),
    "the CUDA driver": re.compile(r"cuda\.h$"),
    "CUPTI": re.compile(r"cupti\.h$"),
    "the profiler of CUPTI": re.compile(r"cupti_.*\.h$"),
    "OpenCL": re.compile(r"CL/.*"),
    "XGBoost": re.compile(r"xgboost/.*"),
}
ISL = re.compile(r"isl/")
ISL_PLACES = re.compile(r"space/|codegen/lower[a-z_]*\.(h|cpp)$")
# What a deployed program links must build without isl.
ISL_FREE_FOLDERS = ["deploy", "logs"]

# About 400 is the aim; one emitter or one lowering is easier to follow in a file of its own than in halves.
MAX_LINES = 600
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
GENERATED = {"support/version.h", "configs/config_schema_text.h"}
GENERATED_PATTERN = re.compile(r"(?:codegen|tuner)/embedded_\w+\.h$")


class Tree:
    """The sources under a root: path below the root -> text."""

    def __init__(self, root):
        self.files, self.cmake = {}, {}
        for folder in MAY_INCLUDE:
            for path in sorted((root / folder).rglob("*")):
                name = path.relative_to(root).as_posix()
                if path.suffix in (".h", ".cpp", ".inc"):
                    self.files[name] = path.read_text(errors="replace")
                elif path.name == "CMakeLists.txt":
                    self.cmake[name] = path.read_text(errors="replace")

    def includes(self, name):
        """(line number, '<' or '"', what) of each include of a file."""
        found = []
        for number, line in enumerate(self.files[name].splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                found.append((number, match.group(1), match.group(2)))
        return found


def folder_of(name):
    return name.split("/", 1)[0]


def check_layers(tree):
    for name in tree.files:
        allowed = MAY_INCLUDE[folder_of(name)] + [folder_of(name)]
        for line, _, what in tree.includes(name):
            target = folder_of(what)
            extra = MAY_ALSO_INCLUDE.get(folder_of(name), [])
            if "/" in what and target in MAY_INCLUDE and target not in allowed and what not in extra:
                yield f"{name}:{line}: {folder_of(name)} may not include {what} (allowed: {', '.join(allowed)})"


def check_paths(tree):
    for name in tree.files:
        for line, quote, what in tree.includes(name):
            known = what in tree.files or what in GENERATED or GENERATED_PATTERN.match(what)
            if quote == '"' and not known:
                yield f'{name}:{line}: no file {what} below the root; includes are root-relative'


def check_command_line_on_top(tree):
    """What a verb can do, a program without the verbs can do too."""
    for name in tree.files:
        if not name.startswith("tuner/") or name.startswith("tuner/cli/") or name == "tuner/main.cpp":
            continue
        for line, _, what in tree.includes(name):
            if what.startswith("tuner/cli/"):
                yield f"{name}:{line}: only tuner/cli/ and tuner/main.cpp may include {what}"


def check_own_header_first(tree):
    for name in tree.files:
        own = name[:-4] + ".h"
        if name.endswith(".cpp") and own in tree.files:
            includes = tree.includes(name)
            if not includes or includes[0][2] != own:
                yield f"{name}: its own header {own} must be its first include (this proves that it stands alone)"


def check_vendors(tree):
    for vendor, pattern in ONE_PAIR.items():
        pairs = {}
        for name in tree.files:
            if folder_of(name) in ("tests", "bench", "deploy"):
                continue
            for line, _, what in tree.includes(name):
                if pattern.match(what):
                    pairs.setdefault(name.rsplit(".", 1)[0], f"{name}:{line}")
        if len(pairs) > 1:
            yield f"{vendor}: headers included by more than one file pair: {', '.join(sorted(pairs.values()))}"
    for name in tree.files:
        for line, _, what in tree.includes(name):
            if ISL.match(what) and not ISL_PLACES.match(name) and folder_of(name) != "tests":
                yield f"{name}:{line}: isl may be included only by space/ and codegen/lower*"


def value_sources(tree):
    """The sources of the library space_values, from the list in space/CMakeLists.txt."""
    match = re.search(r"redtune_library\(space_values\s+SOURCES(.*?)DEPENDS", tree.cmake.get("space/CMakeLists.txt", ""), re.S)
    return ["space/" + word for word in (match.group(1).split() if match else [])]


def check_isl_free(tree):
    starts = value_sources(tree) + [name for name in tree.files if folder_of(name) in ISL_FREE_FOLDERS]
    for start in starts:
        seen, open_files = set(), [start]
        while open_files:
            name = open_files.pop()
            if name in seen or name not in tree.files:
                continue
            seen.add(name)
            for line, _, what in tree.includes(name):
                open_files.append(what)
                if ISL.match(what):
                    yield f"{start}: must build without isl but reaches {what} by {name}:{line}"


def check_listed(tree):
    """A source that no CMakeLists.txt names is never built; a test in it never runs."""
    for name in tree.files:
        if not name.endswith(".cpp"):
            continue
        parts = name.split("/")
        listed = False
        for depth in range(1, len(parts)):
            text = tree.cmake.get("/".join(parts[:depth]) + "/CMakeLists.txt", "")
            relative = re.escape("/".join(parts[depth:]))
            listed = listed or re.search(rf"(^|[\s(]){relative}([\s)]|$)", text)
        if not listed:
            yield f"{name}: named in no CMakeLists.txt, so it is never built"


TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : [^;{]*)? \{", re.M)


def check_type_names(tree):
    """Two types of one name are one type to the linker: the functions of one run on the data of the other."""
    places = {}
    for name, text in tree.files.items():
        if name.endswith(".h") and folder_of(name) != "tests":
            for match in TYPE.finditer(text):
                places.setdefault(match.group(1), []).append(name)
    for word, names in places.items():
        if len(names) > 1:
            yield f"{names[0]}: type {word} is defined in {', '.join(names[1:])} too"


def check_length(tree):
    for name, text in tree.files.items():
        lines = text.count("\n")
        if lines > MAX_LINES:
            yield f"{name}: {lines} lines, more than {MAX_LINES}"


CHECKS = [check_layers, check_paths, check_command_line_on_top, check_own_header_first, check_vendors, check_isl_free, check_listed,
          check_type_names, check_length]


def breaches(root):
    tree = Tree(pathlib.Path(root))
    return [breach for check in CHECKS for breach in check(tree)]


def main():
    found = breaches(sys.argv[1])
    for breach in found:
        print(breach)
    print(f"{len(found)} breaches of the layout")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
