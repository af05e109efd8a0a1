#!/usr/bin/env python3
"""Breaks each rule of layering.py in a small tree and expects it to be told."""
import pathlib
import tempfile
import unittest

import layering

GOOD = {
    "support/text.h": "",
    "support/text.cpp": '#include "support/text.h"\n#include <string>\n',
    "support/CMakeLists.txt": "redtune_library(support\n  SOURCES\n    text.cpp\n  DEPENDS\n)\n",
    "space/model.h": "#include <isl/cpp.h>\n",
    "space/values.cpp": '#include "support/text.h"\n',
    "space/CMakeLists.txt": "redtune_library(space_values\n  SOURCES\n    values.cpp\n  DEPENDS\n)\n",
    "codegen/lower.cpp": '#include <isl/cpp.h>\n#include "space/model.h"\n#include "codegen/embedded_device.h"\n',
    "codegen/nvrtc.h": "",
    "codegen/nvrtc.cpp": '#include "codegen/nvrtc.h"\n#include <nvrtc.h>\n',
    "codegen/CMakeLists.txt": "redtune_library(codegen SOURCES lower.cpp nvrtc.cpp)\n",
    "tests/support/text_test.cpp": '#include "support/text.h"\n#include <CL/cl.h>\n#include "support/version.h"\n',
    "tests/support/CMakeLists.txt": "redtune_test(support SOURCES text_test.cpp)\n",
}


class Layering(unittest.TestCase):
    def breaches(self, **changes):
        files = dict(GOOD)
        files.update({name.replace("__", "/").replace("_dot_", "."): text for name, text in changes.items()})
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = pathlib.Path(root) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return layering.breaches(root)

    def expect(self, part, **changes):
        found = self.breaches(**changes)
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_a_good_tree_has_none(self):
        self.assertEqual(self.breaches(), [])

    def test_upward_include(self):
        self.expect("support may not include space/model.h", support__other_dot_h='#include "space/model.h"\n')

    def test_command_line_below_itself(self):
        self.expect("only tuner/cli/", tuner__cli__arguments_dot_h="", tuner__tune_dot_h='#include "tuner/cli/arguments.h"\n')

    def test_upward_include_in_angle_brackets(self):
        self.expect("codegen may not include tuner/x.h", codegen__nvrtc_dot_h="#  include <tuner/x.h>\n")

    def test_include_that_is_not_root_relative(self):
        self.expect("no file text.h", support__other_dot_h='#include "text.h"\n')

    def test_two_types_of_one_name(self):
        self.expect("support/text.h: type Answer is defined in space/model.h too", space__model_dot_h="struct Answer {\n};\n",
                    support__text_dot_h="struct Answer {\n};\n")

    def test_own_header_not_first(self):
        self.expect("must be its first include", support__text_dot_cpp='#include <string>\n#include "support/text.h"\n')

    def test_second_place_of_a_vendor_header(self):
        self.expect("NVRTC", codegen__other_dot_h="#include <nvrtc.h>\n")

    def test_isl_outside_its_places(self):
        self.expect("isl may be included only", codegen__plan_dot_h="#include <isl/ast.h>\n")

    def test_isl_reached_by_the_values(self):
        self.expect("must build without isl", space__values_dot_cpp='#include "space/model.h"\n')

    def test_source_that_is_not_built(self):
        self.expect("named in no CMakeLists.txt", tests__support__lost_test_dot_cpp="")

    def test_name_that_is_only_the_end_of_a_listed_one(self):
        self.expect("named in no CMakeLists.txt", tests__support__test_dot_cpp="")

    def test_long_file(self):
        self.expect("601 lines", support__text_dot_h="\n" * 601)


if __name__ == "__main__":
    unittest.main()
