#!/usr/bin/env python3
"""`redtune portfolio` on three tiny shapes: what it prints, what it keeps, what is served from it."""
import glob
import json
import os

from redtune import CommandLine, NO_DEVICE, main

SHAPES = [[64, 32], [64, 256], [128, 1024]]
SUITE = {"redtune_suite": 1, "summary": "Three tiny rows.",
         "entries": [{"id": f"rows/{rows}x{columns}", "operator": {"op": "sum", "shape": [rows, columns], "axes": [1]}}
                     for rows, columns in SHAPES]}
FEW = ["--trials", "2", "--time", "none", "--rounds", "1", "--candidates", "2", "--kernels", "2"]


class Portfolio(CommandLine):
    def setUp(self):
        super().setUp()
        self.write("tiny.json", json.dumps(SUITE))

    def test_measures_chooses_and_serves(self):
        out, _ = self.expect(0, "portfolio", "tiny.json", *FEW, "--json", "--leave-out")
        document = json.loads(out)
        portfolio = document["portfolios"][0]
        self.assertEqual([row["operator"] for row in portfolio["shapes"]],
                         [f"sum(f32[{rows},{columns}];axes=1)->f32" for rows, columns in SHAPES])
        self.assertTrue(1 <= len(portfolio["kernels"]) <= 2)
        regrets = [row["regret"] for row in portfolio["shapes"] if row["kernel"] is not None]
        self.assertEqual(len(regrets) + portfolio["uncovered"], 3)
        self.assertAlmostEqual(max(regrets), portfolio["worst_regret"])
        self.assertGreaterEqual(min(regrets), 0)
        self.assertEqual(len(portfolio["leave_out"]["shapes"]), 3)
        # Again: nothing is measured.
        logs = sorted(glob.glob(self.path("redtune-out/portfolio/*.jsonl")))
        self.assertEqual(len(logs), 6)
        sizes = [os.path.getsize(log) for log in logs]
        out, _ = self.expect(0, "portfolio", "tiny.json", *FEW)
        self.assertEqual(sizes, [os.path.getsize(log) for log in logs])
        for part in ("own best", "kernel", "regret: mean ", "worst ", "configs redtune-out/configs/"):
            self.assertIn(part, out)
        # The store holds the best of each shape and the schedules of the portfolio.
        self.expect(0, "configs", "check", "redtune-out/configs")
        with open(self.path(portfolio["config"])) as file:
            entries = json.load(file)["entries"]
        ranged = [entry for entry in entries if "range" in entry]
        self.assertEqual(len(ranged), len(portfolio["kernels"]))
        self.assertEqual(len(entries) - len(ranged), 3)
        self.assertEqual((ranged[0]["range"]["low"], ranged[0]["range"]["high"]), ([64, 32], [128, 1024]))
        self.assertEqual(ranged[0]["range"]["portfolio"], "tiny")
        if not portfolio["uncovered"]:
            self.serves()
        # The cross logs alone give the same choice, without a device.
        crossed = [log for log in logs if log.endswith(".cross.jsonl")]
        out, _ = self.expect(0, "portfolio", "tiny.json", *FEW, "--json", "--dry-run", "--log", *crossed, env=NO_DEVICE)
        again = json.loads(out)["portfolios"][0]
        self.assertEqual(len(again["shapes"]), 3)
        self.assertLessEqual(again["worst_regret"], portfolio["worst_regret"] + 0.005)

    def serves(self):
        words = ["--op", "sum", "--shape", "96x512", "--axes", "1"]
        answer = json.loads(self.expect(0, "best", *words, "--grade", "in_range", "--json")[0])[0]
        self.assertEqual(answer["grade"], "in_range")
        self.assertGreaterEqual(answer["worst_regret"], answer["regret"])
        code, out, err = self.run_redtune("run", *words, "--config", "redtune-out/configs", "--grade", "in_range")
        if code == 0:  # both schedules may be illegal there: then nothing is served
            self.assertIn("in_range: of the portfolio tiny", err)
            self.assertIn("checked against the reference", out)
        else:
            self.assertIn("no config for", err)
        outside = ["--op", "sum", "--shape", "100x2000", "--axes", "1"]
        self.expect(3, "best", *outside, "--grade", "in_range")
        self.expect(3, "run", *outside, "--config", "redtune-out/configs", "--grade", "in_range")

    def test_bad_usage(self):
        self.assertIn("name a suite", self.expect(2, "portfolio")[1])
        self.assertIn("did you mean 'cub_sizes'", self.expect(2, "portfolio", "cub_size")[1])
        self.assertIn("no entry has 'zzz'", self.expect(2, "portfolio", "tiny.json", "--only", "zzz")[1])
        self.expect(2, "portfolio", "tiny.json", "--kernels", "0")
        self.expect(3, "portfolio", "tiny.json", "--log", "absent.jsonl", env=NO_DEVICE)
        self.expect(4, "portfolio", "tiny.json", *FEW, env=NO_DEVICE)
        self.assertFalse(os.path.exists(self.path("redtune-out/configs")))
        strided = {"op": "sum", "shape": [8, 8], "axes": [1], "strides": [9, 1]}
        self.write("strided.json", json.dumps({**SUITE, "entries": [{"id": "s", "operator": strided}]}))
        self.assertIn("gaps or an offset", self.expect(2, "portfolio", "strided.json")[1])


if __name__ == "__main__":
    main()
