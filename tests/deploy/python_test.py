#!/usr/bin/env python3
"""The Python package on NumPy arrays; run by installed_test.py with a store that holds the sum over rows of 64x256 f32."""
import os
import sys
import threading
import unittest

import numpy

import redtune_deploy as rt


class Python(unittest.TestCase):
    def setUp(self):
        self.store = rt.Store(os.environ["REDTUNE_STORE"])

    def test_run(self):
        array = numpy.random.default_rng(1).integers(-8, 8, (64, 256)).astype(numpy.float32)
        result, answer = self.store.run(array, "sum", axes=[1])
        numpy.testing.assert_array_equal(result, array.sum(axis=1))
        self.assertEqual((result.dtype, result.shape), (numpy.float32, (64,)))
        self.assertEqual((answer.grade, answer.has_kernel, answer.regret), ("exact", True, 0.0))
        self.assertGreater(answer.seconds, 0)
        self.assertEqual(answer.device, self.store.device)
        # The same function under other axes, from an array that is not dense.
        folded, _ = self.store.run(array.T.reshape(256, 8, 8).transpose(1, 2, 0), "sum", axes=[-1], keepdims=True)
        numpy.testing.assert_array_equal(folded, array.reshape(8, 8, 256).sum(axis=2, keepdims=True))

    def test_errors(self):
        with self.assertRaises(rt.Error) as caught:
            self.store.run(numpy.ones((64, 257), numpy.float32), "sum", axes=[1])
        self.assertEqual(caught.exception.status, 2)
        self.assertIn("no kernel for sum(f32[64,257];axes=1)->f32", str(caught.exception))
        with self.assertRaisesRegex(rt.Error, "complex64"):
            self.store.run(numpy.ones((4, 4), numpy.complex64), "sum")
        with self.assertRaisesRegex(rt.Error, "did you mean 'sum'"):
            self.store.run(numpy.ones((4, 4), numpy.float32), "sun")
        with self.assertRaisesRegex(rt.Error, "/nonexistent"):
            rt.Store("/nonexistent")
        with self.assertRaisesRegex(rt.Error, "no device 'gpu'"):
            rt.Store(os.environ["REDTUNE_STORE"], device="gpu").run(numpy.ones((64, 256), numpy.float32), "sum", axes=[1])

    def test_find(self):
        near = self.store.find({"op": "sum", "shape": [128, 256], "axes": [1]})
        self.assertEqual((near.grade, near.has_kernel, near.distance), ("nearest", False, 1.0))
        self.assertEqual(self.store.find({"op": "max", "shape": [4], "axes": [0]}).grade, "default")
        with self.assertRaises(rt.Error):
            self.store.find({"op": "max", "shape": [4], "axes": [0]}, lowest=rt.OTHER_DEVICE)
        self.assertEqual((len(self.store), self.store.problems, rt.version()[:2]), (1, [], "0."))

    def test_threads(self):
        wrong = []

        def work(seed):
            array = numpy.full((64, 256), seed, numpy.float32)
            for _ in range(10):
                result, _ = self.store.run(array, "sum", axes=[1])
                if not (result == 256 * seed).all():
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False).result.wasSuccessful())
