#!/usr/bin/env python3
"""`redtune report`: the page, its numbers as JSON and CSV, and how it opens in a browser (headless Chromium)."""
import csv
import html.parser
import json
import os
import random
import re
import shutil
import subprocess
import unittest

import made_up_log
import redtune

SHAPES = {"small": [256, 512], "large": [768, 21128]}
MOST_BYTES = 3_000_000
# The page has to open in a second. A machine that is busy with other tests gets more.
MOST_MILLISECONDS = 5000


def chromium():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Links(html.parser.HTMLParser):
    """What a page would load from elsewhere."""
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "srcset", "data", "action") or (name == "href" and not (value or "").startswith("#")):
                self.found.append((tag, name, value))


class Report(redtune.CommandLine):
    def make_log(self, name, trials):
        shape = SHAPES[name]
        words = ["--op", "sum", "--shape", "x".join(map(str, shape)), "--axes", "1", "--target", "cpu"]
        space = json.loads(self.expect(0, "space", *words, "--list", "100000", "--json")[0])
        with open(os.path.join(os.path.dirname(__file__), "../../configs/targets/cpu.json")) as file:
            facts = json.load(file)
        del facts["costs"]
        schedules = random.Random(1).sample(space["schedules"], trials)
        made_up_log.write(self.path(name + ".jsonl"), shape, schedules[1:], schedules[0], space["operator"], facts)
        return name + ".jsonl"

    def page_of(self, *logs):
        _, err = self.expect(0, "report", *logs, "-o", "report.html")
        self.assertIn("report.html: ", err)
        with open(self.path("report.html")) as file:
            return file.read()

    def browse(self, *options, page="report.html"):
        program = chromium()
        if not program:
            self.skipTest("no Chromium here (package chromium)")
        done = subprocess.run([program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                               "--user-data-dir=" + self.path("profile"), "--virtual-time-budget=5000", *options,
                               "file://" + self.path(page)], capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout, done.stderr

    def test_a_thousand_trials_make_one_small_page_without_links(self):
        page = self.page_of(self.make_log("large", 1000))
        self.assertLess(len(page.encode()), MOST_BYTES)
        links = Links()
        links.feed(page)
        self.assertEqual(links.found, [])
        self.assertNotIn("@@", page)
        # A detail of the log ends no script of the page.
        self.assertNotIn("alert(1)</script>", page)
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
        task = data["tasks"][0]
        self.assertEqual(len(task["trials"]), 1000)
        self.assertEqual(task["default"], 0)
        timed = [trial["seconds"] for trial in task["trials"] if trial["outcome"] == "timed"]
        self.assertLessEqual(min(timed), task["trials"][task["best"]]["seconds"])
        self.assertEqual(sum(failure["count"] for failure in task["failures"]), 1000 - len(timed))
        kernels = task["kernels"]
        self.assertEqual(kernels[0]["schedule"], task["trials"][task["best"]]["schedule"])
        self.assertIn("another text", kernels[0]["note"])  # the log's hashes are made up
        self.assertIn("rt_", kernels[0]["text"])

    def test_csv_and_json_hold_the_same_numbers(self):
        logs = [self.make_log("small", 40), self.make_log("large", 30)]
        self.expect(0, "report", *logs, "-o", "report.csv")
        self.expect(0, "report", *logs, "-o", "report.json")
        with open(self.path("report.csv")) as file:
            rows = list(csv.DictReader(file))
        with open(self.path("report.json")) as file:
            tasks = json.load(file)["tasks"]
        trials = [trial for task in tasks for trial in task["trials"]]
        self.assertEqual([len(task["trials"]) for task in tasks], [40, 30])
        self.assertEqual(len(rows), len(trials))
        for row, trial in zip(rows, trials):
            self.assertEqual((row["schedule"], row["outcome"]), (trial["schedule"], trial["outcome"]))
            if "seconds" in trial:
                self.assertAlmostEqual(float(row["seconds"]), trial["seconds"], delta=1e-8 * trial["seconds"])
        self.assertEqual(sum(row["best"] == "1" for row in rows), 2)

    def test_bad_input_is_refused(self):
        self.write("letter.jsonl", "dear reader\n")
        self.assertIn("letter.jsonl", self.expect(2, "report", "letter.jsonl", "-o", "x.html")[1])
        self.assertIn("no such file", self.expect(2, "report", "missing.jsonl")[1])
        log = self.make_log("small", 3)
        self.assertIn("unknown report format", self.expect(2, "report", log, "-o", "x.htm")[1])
        self.assertFalse(os.path.exists(self.path("x.html")))

    def test_it_opens_in_a_browser(self):
        self.page_of(self.make_log("large", 1000), self.make_log("small", 60))
        dom, err = self.browse("--dump-dom", "--enable-logging=stderr")
        self.assertNotIn("Uncaught", err)
        milliseconds = re.search(r'data-ready-milliseconds="(\d+)"', dom)
        self.assertTrue(milliseconds, dom[:500])
        self.assertLess(int(milliseconds[1]), MOST_MILLISECONDS)
        self.assertGreaterEqual(int(re.search(r'data-charts="(\d+)"', dom)[1]), 10)
        self.assertIn("Time by mapping and size", dom)
        self.assertIn('<option value="1">', dom)
        self.assertIn('class="best"', dom)
        self.assertIn("wrong result: 1", dom)  # failures by reason
        print(f"drawn in {milliseconds[1]} ms")

    def test_it_fits_a_narrow_screen_and_both_themes(self):
        """REDTUNE_PICTURES=DIR keeps the pictures: those of docs/ are made so."""
        self.page_of(self.make_log("large", 300), self.make_log("small", 60))
        # Chromium has no windows as narrow as a phone.
        self.write("phone.html", '<body style="margin:0"><iframe style="border:0;width:390px;height:100vh" '
                                 'src="report.html#light"></iframe>')
        pictures = {}
        for name, page, size in (("light", "report.html#light", "1160,1500"), ("dark", "report.html#dark", "1160,1500"),
                                 ("narrow", "phone.html", "500,1500")):
            picture = self.path(f"report-{name}.png")
            self.browse("--screenshot=" + picture, "--window-size=" + size, page=page)
            with open(picture, "rb") as file:
                pictures[name] = file.read()
            if os.environ.get("REDTUNE_PICTURES"):
                shutil.copy(picture, os.environ["REDTUNE_PICTURES"])
        self.assertNotEqual(pictures["light"], pictures["dark"])
        for picture in pictures.values():
            self.assertGreater(len(picture), 20000)

    def test_nothing_is_wider_than_a_phone(self):
        self.page_of(self.make_log("small", 60))
        self.write("phone.html", """<body><iframe id="phone" style="border:0;width:390px;height:800px" src="report.html"></iframe>
            <script>document.getElementById("phone").onload = (event) => {
              const page = event.target.contentDocument.documentElement;
              document.body.dataset.wide = page.scrollWidth;
            };</script>""")
        dom, _ = self.browse("--dump-dom", "--allow-file-access-from-files", page="phone.html")
        self.assertLessEqual(int(re.search(r'data-wide="(\d+)"', dom)[1]), 390)


if __name__ == "__main__":
    redtune.main()
