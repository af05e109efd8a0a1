#!/usr/bin/env python3
"""What others build on: the example, the installed tree (find_package, pkg-config, Python), and the store's verbs.

usage: REDTUNE_PROGRAM=PATH REDTUNE_BUILD=DIR installed_test.py
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["REDTUNE_BUILD"])
PROGRAM = os.environ["REDTUNE_PROGRAM"]
SMALL = ["--op", "sum", "--shape", "64x256", "--axes", "1"]
ALLOWED = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def run(*words, code=0, **more):
    done = subprocess.run([str(w) for w in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=300, **more)
    if code is not None and done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="redtune-installed-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        devices = subprocess.run([PROGRAM, "devices", "--json"], text=True, capture_output=True)
        if devices.returncode == 4:
            raise unittest.SkipTest("no device")
        run(PROGRAM, "tune", *SMALL, "--trials", "2", "--time", "30s", cwd=cls.scratch)
        cls.store = cls.scratch / "redtune-out" / "configs"
        cls.environment = {**os.environ, "XDG_CACHE_HOME": str(cls.scratch / "cache")}
        # Only what the library brings: the whole tree is install_check's business. Moved, so that no path is baked in.
        run("cmake", "--install", BUILD / "deploy", "--prefix", cls.scratch / "first")
        (cls.scratch / "first").rename(cls.scratch / "tree")
        cls.tree = cls.scratch / "tree"

    def test_example(self):
        out = run(BUILD / "deploy" / "redtune_deploy_example", self.store,
                  '{"op": "sum", "shape": [64, 256], "axes": [1]}', env=self.environment)
        self.assertIn("64 sums, the first is 256", out)
        out = run(BUILD / "deploy" / "redtune_deploy_example", self.store,
                  '{"op": "sum", "shape": [65, 256], "axes": [1]}', code=2, env=self.environment)
        self.assertIn("no kernel for sum(f32[65,256];axes=1)->f32", out)

    def test_library_needs_nothing_but_the_language(self):
        library = self.tree / "lib" / "libredtune_deploy.so"
        needed = [line.split("[")[1].rstrip("]") for line in run("readelf", "-d", library).splitlines() if "(NEEDED)" in line]
        self.assertLessEqual(set(needed), ALLOWED)
        symbols = run("nm", "-D", "--defined-only", library).split("\n")
        foreign = [line for line in symbols if line and " T " in line and not line.split()[-1].startswith("redtune_")]
        self.assertEqual(foreign, [])

    def test_find_package(self):
        build = self.scratch / "consumer"
        run("cmake", "-S", ROOT / "tests/deploy/consumer", "-B", build, f"-DCMAKE_PREFIX_PATH={self.tree}",
            "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", build)
        self.assertIn("64 sums", run(build / "consumer_c", self.store, env=self.environment))
        self.assertIn("1 configs", run(build / "consumer_cpp", self.store, env=self.environment))

    def test_pkg_config(self):
        environment = {**self.environment, "PKG_CONFIG_PATH": str(self.tree / "lib/pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "redtune", env=environment).split()
        program = self.scratch / "by_pkg_config"
        run("cc", "-std=c99", "-Wall", "-Werror", "-pedantic", ROOT / "tests/deploy/consumer/consumer.c", *flags, "-o",
            program)
        self.assertIn("64 sums", run(program, self.store,
                                     env={**self.environment, "LD_LIBRARY_PATH": str(self.tree / "lib")}))

    def test_python(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("python3-numpy: found none")
        environment = {**self.environment, "PYTHONPATH": str(self.tree / "lib/python"), "PYTHONDONTWRITEBYTECODE": "1",
                       "REDTUNE_STORE": str(self.store)}
        print(run(sys.executable, ROOT / "tests/deploy/python_test.py", env=environment))

    def test_store_verbs(self):
        copy = self.scratch / "copy"
        self.assertIn("1 added", run(PROGRAM, "configs", "merge", copy, self.store))
        self.assertIn("1 kept", run(PROGRAM, "configs", "merge", copy, self.store))
        self.assertIn("1 configs, all good", run(PROGRAM, "configs", "check", copy))
        self.assertIn("no difference", run(PROGRAM, "configs", "diff", self.store, copy))
        (copy / "kernels" / "0000000000000000.cl").write_text("nobody's")
        self.assertIn("0 files", run(PROGRAM, "configs", "prune", copy))
        self.assertIn("0000000000000000.cl", run(PROGRAM, "configs", "prune", copy, "--age", "0", "--dry-run"))
        self.assertIn("1 files", run(PROGRAM, "configs", "prune", copy, "--age", "0"))
        for kernel in (copy / "kernels").iterdir():
            kernel.write_text("damaged")
        self.assertIn("is damaged", run(PROGRAM, "configs", "check", copy, code=2))
        self.assertIn("at least 2 needed", run(PROGRAM, "configs", "merge", copy, code=2))
        run(PROGRAM, "configs", "check", "/nonexistent", code=2)
        run(PROGRAM, "configs", code=2)


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, verbosity=2).result.wasSuccessful())
