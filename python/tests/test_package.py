"""The package with the program: runs of files and dictionaries, their results, and messages of mistakes."""

import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
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
        except ImportError:
            self.skipTest("numpy is not installed")
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
        try:
            import vtkmodules.vtkIOHDF  # noqa: F401
        except ImportError:
            self.skipTest("vtk is not installed")
        one_file = dgsuite.run("case.yaml", {"output.fields.format": "vtkhdf"}, quiet=True)
        self.assertEqual(one_file.times, [0.0, 0.25, 0.5])
        self.assertEqual(one_file.field_file().name, "fields.vtkhdf")
        for name, values in one_file.fields().items():
            numpy.testing.assert_array_equal(values, fields[name])
        numpy.testing.assert_array_equal(one_file.fields().triangles(), fields.triangles())
        self.assertTrue((one_file.fields(0.3)["Density"] != fields["Density"]).any())

    def test_a_check_returns_the_plan_or_the_mistakes(self):
        plan = dgsuite.check(VORTEX, {"space.order": 3}, device="cpu", threads=2)
        self.assertIn("order 3", plan)
        self.assertIn("2 threads", plan)
        with self.assertRaises(dgsuite.RunError) as caught:
            dgsuite.check({**VORTEX, "space": {"ordr": 2}})
        self.assertEqual(caught.exception.code, 2)
        self.assertEqual(caught.exception.mistakes[0]["code"], "unknown-key")
        self.assertEqual(os.listdir("."), [], "nothing is written")

    def test_paths_and_texts_are_values(self):
        case = {**VORTEX, "output": {"directory": pathlib.Path("out") / "here"}, "time": {"steps": 1}}
        run = dgsuite.run(case, quiet=True, output=pathlib.Path("out/there"))
        self.assertEqual(run.directory, pathlib.Path("out/there"))
        hidden = [path for path in pathlib.Path(".").rglob(".*")]
        self.assertEqual(hidden, [], "hidden files are left")

    def test_arrays_are_values(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        box = {"shape": "tri", "min": numpy.array([-5, -5]), "max": numpy.full(2, 5.0), "cells": numpy.array([4, 4])}
        case = {**VORTEX, "mesh": {**VORTEX["mesh"], "generate": box}, "time": {"steps": numpy.int64(1)}}
        run = dgsuite.run(case, {"space.order": numpy.array([1, 2])[0]}, quiet=True, device="cpu", threads=1)
        self.assertEqual((run.summary["mesh"]["elements"]["tri"], run.summary["space"]["order"]), (32, 1))
        self.assertEqual(run.summary["threads"], 1)

    def test_pictures_exports_and_pages_are_written(self):
        run = dgsuite.run(VORTEX, quiet=True, device="cpu")
        picture = dgsuite.picture(run, "rho.png", field="Density", range=(0.5, 1), mesh=True)
        self.assertTrue(picture.read_bytes().startswith(b"\x89PNG"))
        self.assertEqual(len(dgsuite.picture(run, "frames", field="Density", time="all", size="200")), 3)
        self.assertIn("<h1>Vortex</h1>", dgsuite.report(run.directory).read_text())
        line = dgsuite.export(run, line="0,0 1,0", points=5, field=["Density", "v2=u^2 + v^2"])
        self.assertEqual(line, pathlib.Path("out/run/line.csv"))
        self.assertEqual(len(line.read_text().splitlines()), 6)
        with self.assertRaises(dgsuite.RunError) as caught:
            dgsuite.picture(run, field="Densty")
        self.assertIn("Density", str(caught.exception))

    def test_fields_have_triangles(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        for shape, order, count in [("tri", 1, 1), ("tri", 4, 16), ("quad", 1, 2), ("quad", 3, 18)]:
            run = dgsuite.run(
                VORTEX, {"mesh.generate.shape": shape, "space.order": order, "time.end": 0.1}, quiet=True, device="cpu"
            )
            fields = run.fields()
            triangles = fields.triangles()
            elements = sum(run.summary["mesh"]["elements"].values())
            self.assertEqual(triangles.shape, (count * elements, 3))
            x, y, _ = fields["points"].astype(float).T
            a, b, c = triangles.T
            areas = 0.5 * ((x[b] - x[a]) * (y[c] - y[a]) - (x[c] - x[a]) * (y[b] - y[a]))
            self.assertTrue((areas > 0).all())
            self.assertAlmostEqual(areas.sum(), 100, places=4)
            self.assertEqual(fields.time, 0.1)
            self.assertEqual(len(numpy.unique(triangles)), len(x), "each point is used")
        file = dgsuite.export(run, "more.vtu", field="Mach")
        self.assertEqual(list(dgsuite.fields(file)), ["points", "Mach"])

    def test_a_callback_sees_each_output_and_may_stop_the_run(self):
        seen = []

        def look(run, time):
            seen.append((time, run.times[-1], run.status))
            return time < 0.2

        run = dgsuite.run(VORTEX, quiet=True, device="cpu", callback=look, every=0.1)
        self.assertEqual([time for time, _, _ in seen], [0.0, 0.1, 0.2])
        self.assertTrue(all(time == newest and status == "running" for time, newest, status in seen[:-1]), seen)
        self.assertEqual(run.status, "stopped")
        self.assertLess(run.summary["time"]["end"], 0.4)
        # A run of which nothing stops ends as any other.
        run = dgsuite.run(VORTEX, quiet=True, device="cpu", callback=lambda run, time: None, every_steps=100)
        self.assertEqual((run.status, run.summary["time"]["end"]), ("ok", 0.5))

    def test_an_exception_of_a_callback_ends_the_run(self):
        def fail(run, time):
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            dgsuite.run(VORTEX, quiet=True, device="cpu", callback=fail, every=0.1)
        self.assertEqual(dgsuite.Run("out/run").status, "stopped")

    def test_nobody_waits_for_one_that_has_ended(self):
        # Python is killed within the callback: the program stops by itself.
        script = (
            "import dgsuite, os, signal, test_package\n"
            "def die(run, time):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
            "dgsuite.run(test_package.VORTEX, device='cpu', callback=die, every=0.1, quiet=True)\n"
        )
        places = [str(pathlib.Path(__file__).resolve().parent), *sys.path]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
        killed = subprocess.run([sys.executable, "-c", script], env=environment)
        self.assertEqual(killed.returncode, -signal.SIGKILL)
        for _ in range(200):
            if dgsuite.Run("out/run").status == "stopped":
                break
            time.sleep(0.1)
        self.assertEqual(dgsuite.Run("out/run").status, "stopped")

        # The program is killed within the callback: Python reports it.
        def kill(run, time):
            holder = (run.directory / ".dgsuite.lock").read_text()
            os.kill(int(holder.split()[1]), signal.SIGKILL)

        with self.assertRaises(dgsuite.RunError) as caught:
            dgsuite.run(VORTEX, output="out/killed", quiet=True, device="cpu", callback=kill, every=0.1)
        self.assertEqual(caught.exception.code, -signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
