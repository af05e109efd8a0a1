#!/usr/bin/env python3
"""Compiles each header by itself.

A header that its own source file includes first is proven by the build (layering.py sees to the order), so only the
others are compiled here.

usage: headers.py ROOT COMPILER FLAG...
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

from layering import MAY_INCLUDE


def lonely_headers(root):
    for folder in MAY_INCLUDE:
        for path in sorted((root / folder).rglob("*.h")):
            if not path.with_suffix(".cpp").exists():
                yield path.relative_to(root).as_posix()


def compile_alone(name, command, scratch):
    source = pathlib.Path(scratch) / (name.replace("/", "_") + ".cpp")
    # Twice: a header without a guard fails.
    source.write_text(f'#include "{name}"\n#include "{name}"\n')
    run = subprocess.run(command + ["-fsyntax-only", str(source)], capture_output=True, text=True)
    return name, run.returncode, run.stderr


def main():
    root, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    names = list(lonely_headers(root))
    failed = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, code, errors in pool.map(lambda name: compile_alone(name, command, scratch), names):
            if code != 0:
                failed += 1
                print(f"{name} does not compile alone:\n{errors}")
    print(f"{len(names)} headers compiled alone, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
