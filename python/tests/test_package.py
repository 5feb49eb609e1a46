"""The package with the program: runs of files and dictionaries, their results, and messages of mistakes."""

import contextlib
import io
import os
import pathlib
import tempfile
import unittest

import dgsuite

VORTEX = {
    "title": "Vortex",
    "mesh": {
        "generate": {"shape": "tri", "min": [-5, -5], "max": [5, 5], "cells": [8, 8]},
        "periodic": [["xmin", "xmax"], ["ymin", "ymax"]],
    },
    "physics": {"model": "euler"},
    "space": {"order": 2},
    "initial": {"exact": "isentropic-vortex"},
    "time": {"end": 0.5},
    "monitors": [{"error": {"exact": "isentropic-vortex", "every": 0.1}}],
    "output": {"fields": {"every": 0.25, "names": ["Density", "Velocity"]}},
}


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)

    def test_a_dictionary_runs_and_its_results_are_read(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run = dgsuite.run(VORTEX, {"space.order": 1, "mesh.generate.cells": [4, 4]}, device="cpu")
        self.assertEqual(run.status, "ok")
        self.assertEqual(run.directory, pathlib.Path("out/run"))
        self.assertEqual(run.summary["space"]["order"], 1)
        self.assertIn("results in out/run", printed.getvalue())
        self.assertEqual(os.listdir("."), ["out"])
        self.assertEqual(run.times, [0.0, 0.25, 0.5])
        self.assertTrue(run.field_file(0.3).name.endswith("000001.vtu"))
        self.assertIn("error", run.tables)
        self.assertIn("Vortex", run.log)

    def test_a_mistake_is_an_exception_with_the_message(self):
        with self.assertRaises(dgsuite.RunError) as caught:
            dgsuite.run({**VORTEX, "space": {"ordr": 2}}, quiet=True)
        self.assertEqual(caught.exception.code, 2)
        self.assertIn("ordr", str(caught.exception))
        self.assertIn("order", str(caught.exception))
        with self.assertRaises(FileNotFoundError):
            dgsuite.Run("nowhere")

    def test_a_failed_check_is_an_exception_with_the_results(self):
        case = {**VORTEX, "checks": [{"value": "error.l2.rho", "below": 1e-9}]}
        with self.assertRaises(dgsuite.RunError) as caught:
            dgsuite.run(case, quiet=True)
        self.assertEqual(caught.exception.code, 1)
        self.assertEqual(caught.exception.run.status, "check-failed")
        self.assertIn("check FAILED: error.l2.rho", str(caught.exception))
        self.assertEqual(dgsuite.run(case, quiet=True, check=False).status, "check-failed")

    def test_tables_and_fields_are_arrays(self):
        try:
            import numpy
            import vtkmodules.vtkIOXML  # noqa: F401
        except ImportError:
            self.skipTest("numpy or vtk is not installed")
        pathlib.Path("case.yaml").write_text(__import__("json").dumps(VORTEX))
        run = dgsuite.run("case.yaml", quiet=True)
        self.assertEqual(run.directory, pathlib.Path("out/case"))
        table = run.table("error")
        numpy.testing.assert_allclose(table["time"], numpy.arange(6) / 10, atol=1e-12)
        self.assertTrue((table["l2_rho"] < 0.1).all())
        with self.assertRaises(KeyError):
            run.table("drag")
        fields = run.fields()
        self.assertEqual(fields["points"].shape[1], 3)
        self.assertEqual(fields["Velocity"].shape, fields["points"].shape)
        self.assertTrue((fields["Density"] > 0.9).all())
        one_file = dgsuite.run("case.yaml", {"output.fields.format": "vtkhdf"}, quiet=True)
        self.assertEqual(one_file.times, [0.0, 0.25, 0.5])
        self.assertEqual(one_file.field_file().name, "fields.vtkhdf")
        for name, values in one_file.fields().items():
            numpy.testing.assert_array_equal(values, fields[name])
        self.assertTrue((one_file.fields(0.3)["Density"] != fields["Density"]).any())


if __name__ == "__main__":
    unittest.main()
