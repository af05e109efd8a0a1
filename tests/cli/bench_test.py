#!/usr/bin/env python3
"""`redtune bench` on a suite of three tiny rows: what it prints, what it keeps, what it takes up again."""
import csv
import io
import json
import os
import unittest

import redtune

SUITE = {
    "redtune_suite": 1, "summary": "Three tiny rows.",
    "published": {"device": "a device", "source": "nowhere", "how": "made up for a test", "ours": "theirs"},
    "entries": [
        {"id": "a/sum", "groups": ["g", "h"], "operator": {"op": "sum", "shape": [64, 96], "axes": [1]},
         "published": {"theirs": 1e-6, "other": 2e-6}},
        {"id": "b/max", "groups": ["g"], "note": "a note",
         "operator": {"op": "max", "shape": [300, 20], "axes": [0], "dtype": "f16", "out": "f32"}},
        {"id": "c/argmax", "operator": {"op": "argmax", "shape": [5000], "axes": [0]}}]}
SMALL = ["--trials", "2", "--rounds", "1", "--peak-trials", "0"]


class Bench(redtune.CommandLine):
    def setUp(self):
        super().setUp()
        self.write("tiny.json", json.dumps(SUITE))

    def bench(self, *words, code=0):
        return self.expect(code, "bench", "tiny.json", *SMALL, *words)

    def test_rows_baselines_and_resuming(self):
        out, _ = self.bench("--format", "json", "--baselines", "default,naive_atomic,openmp,onednn")
        result = json.loads(out)
        rows = {row["id"]: row for row in result["rows"]}
        self.assertEqual(list(rows), ["a/sum", "b/max", "c/argmax"])
        self.assertEqual([group["name"] for group in result["groups"]], ["g", "h"])
        for row in rows.values():
            self.assertGreater(row["tuned"]["seconds"], 0, row)
            sides = {side["name"]: side for side in row["sides"]}
            self.assertGreater(sides["default"]["time"]["seconds"], 0)
            for side in sides.values():
                self.assertNotEqual("time" in side, "failure" in side, side)
        argmax = {side["name"]: side for side in rows["c/argmax"]["sides"]}
        self.assertIn("no schedule in the space", argmax["naive_atomic"]["failure"])
        self.assertIn("failure", argmax["openmp"])
        # The same question: nothing is measured again. Other baselines or more trials: it is.
        words = ["--format", "json", "--baselines", "default,openmp"]
        again, err = self.bench(*words)
        self.assertIn("3 rows taken from earlier results", err)
        self.assertEqual(json.loads(again)["rows"], result["rows"])
        self.assertNotIn("[1/3]", err)
        _, err = self.bench("--baselines", "default,best_tree", "--only", "a/sum")
        self.assertIn("[1/1] a/sum", err)
        out, err = self.bench("--format", "csv", "--baselines", "default", "-o", "t.csv")
        with open(self.path("t.csv")) as file:
            lines = list(csv.DictReader(file))
        self.assertEqual({line["contestant"] for line in lines if line["kind"] == "published"}, {"theirs", "other"})
        self.assertEqual(out, "")

    def test_sizes_are_made_smaller_and_listed(self):
        out, _ = self.bench("--list", "--memory", "100k")
        self.assertIn("axis 0 from 64 to 32", out)
        self.assertIn("b/max", out)
        self.assertFalse(os.path.exists(self.path("redtune-out")))

    def test_bad_words_are_refused_before_anything_is_measured(self):
        for words, complaint in ((["--baselines", "defualt"], "did you mean 'default'"),
                                 (["--format", "htlm"], "unknown format"), (["--only", "zzz"], "no entry has 'zzz'"),
                                 (["--list", "--memory", "much"], "--memory")):
            _, err = self.bench(*words, code=2)
            self.assertIn(complaint, err)
        _, err = self.expect(2, "bench", "panamera_singel")
        self.assertIn("did you mean 'panamera_single'", err)
        self.assertFalse(os.path.exists(self.path("redtune-out/bench")))

    def test_shipped_suites_are_listed(self):
        out, _ = self.expect(0, "bench")
        for name in ("panamera_single", "panamera_table4", "network_reductions", "cub_sizes"):
            self.assertIn(name, out)


if __name__ == "__main__":
    redtune.main()
