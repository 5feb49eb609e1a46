"""Reads .vtu and .vtkhdf files with VTK and compares them with the data that should have been written.

usage: vtk_readback.py EXPECTED.json

The list holds one object per file (paths relative to the list):
  file, time, precision (Float32 | Float64), tolerance, cells (their number), and any of
  probes  cell, VTK type, element_id, parametric coordinates `at` of the VTK cell, `expected`
          position x and values there
  points  number of a point of the file and its `expected` position and values
  linear  of straight cells cut into linear ones: `law` c0 + c1 x + c2 y + c3 z of Pressure, total
          `size`, `dim`, positions `inside` which some cell must hold
  data    names of cell data with the `expected` values of the first cells
or, for a .vtkhdf file,
  file, times  pairs of a time and the .vtu file that must hold the same points, cells and values
Exit code 1 and one line for each difference if any is larger than the tolerance.
"""

import json
import pathlib
import random
import sys

import vtk


class Difference(Exception):
    """A value that differs from the expected one."""


def need(condition, text):
    if not condition:
        raise Difference(text)


def compare(what, found, expected, tolerance):
    need(len(found) == len(expected), f"{what}: {len(found)} components, expected {len(expected)}")
    worst = max(abs(a - b) for a, b in zip(found, expected))
    # `not <=` so that a NaN is a difference.
    need(worst <= tolerance, f"{what}: found {list(found)}, expected {list(expected)}, off by {worst:.3e}")
    return worst


def read(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    errors = []

    def note(_object, _event, text=""):
        errors.append(text)

    note.CallDataType = vtk.VTK_STRING
    reader.AddObserver("ErrorEvent", note)
    reader.SetFileName(str(path))
    reader.Update()
    need(not errors, f"VTK complains: {errors}")
    return reader.GetOutput()


def numbers(array):
    return list(memoryview(array).cast("B")) if array.GetNumberOfValues() else []


def check_times(directory, expected):
    """Compares every time of a .vtkhdf file with a .vtu file, bit by bit."""
    reader = vtk.vtkHDFReader()
    errors = []

    def note(_object, _event, text=""):
        errors.append(text)

    note.CallDataType = vtk.VTK_STRING
    reader.AddObserver("ErrorEvent", note)
    reader.SetFileName(str(directory / expected["file"]))
    reader.UpdateInformation()
    information = reader.GetOutputInformation(0)
    found = information.Get(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    need(list(found or []) == [time for time, _ in expected["times"]], f"times {found}")
    for time, file in expected["times"]:
        reader.UpdateTimeStep(time)
        need(not errors, f"VTK complains: {errors}")
        grid, other = reader.GetOutput(), read(directory / file)
        need(isinstance(grid, vtk.vtkUnstructuredGrid), f"a {type(grid).__name__}")
        parts = [
            ("points", grid.GetPoints().GetData(), other.GetPoints().GetData()),
            ("types", grid.GetCellTypesArray(), other.GetCellTypesArray()),
            ("nodes", grid.GetCells().GetConnectivityArray(), other.GetCells().GetConnectivityArray()),
            ("cells", grid.GetCells().GetOffsetsArray(), other.GetCells().GetOffsetsArray()),
        ]
        for what in ["GetPointData", "GetCellData", "GetFieldData"]:
            ours, theirs = getattr(grid, what)(), getattr(other, what)()
            if what == "GetFieldData":
                ours.RemoveArray("Time")  # of the reader
            names = [sorted(data.GetArrayName(a) for a in range(data.GetNumberOfArrays())) for data in (ours, theirs)]
            # Names of HDF5 have no slash.
            links = [name.replace("/", "\u2215") for name in names[1]]
            need(names[0] == links, f"time {time}: {what} is {names[0]}, not {links}")
            parts += [(name, ours.GetArray(link), theirs.GetArray(name)) for link, name in zip(links, names[1])]
        for name, ours, theirs in parts:
            real = (vtk.VTK_FLOAT, vtk.VTK_DOUBLE)
            shape = [
                (a.GetNumberOfComponents(), a.GetNumberOfTuples(), a.GetDataTypeSize(), a.GetDataType() in real)
                for a in (ours, theirs)
            ]
            need(shape[0] == shape[1], f"time {time}: {name} is {shape[0]}, not {shape[1]}")
            need(numbers(ours) == numbers(theirs), f"time {time}: {name} differs")


def evaluate(grid, index, at):
    """Position and fields of cell `index` at parametric coordinates `at`, by VTK's own weights."""
    cell = grid.GetCell(index)
    x, weights = [0.0] * 3, [0.0] * cell.GetNumberOfPoints()
    cell.EvaluateLocation(vtk.reference(0), at, x, weights)
    values = {"x": x}
    for a in range(grid.GetPointData().GetNumberOfArrays()):
        array = grid.GetPointData().GetArray(a)
        value = [0.0] * array.GetNumberOfComponents()
        for node, weight in enumerate(weights):
            for c, v in enumerate(array.GetTuple(cell.GetPointId(node))):
                value[c] += weight * v
        values[array.GetName()] = value
    return values


def check_probe(grid, probe, tolerance):
    index = probe["cell"]
    need(grid.GetCellType(index) == probe["type"], f"cell {index}: type {grid.GetCellType(index)}")
    element = grid.GetCellData().GetArray("element_id").GetTuple1(index)
    need(element == probe["element_id"], f"cell {index}: element_id {element}")
    found = evaluate(grid, index, probe["at"])
    where = f"cell {index} at {probe['at']}"
    return max(compare(f"{where}: {k}", found[k], v, tolerance) for k, v in probe["expected"].items())


def check_point(grid, point, tolerance):
    index = point["point"]
    worst = 0.0
    for name, expected in point["expected"].items():
        if name == "x":
            found = grid.GetPoint(index)
        else:
            found = grid.GetPointData().GetArray(name).GetTuple(index)
        worst = max(worst, compare(f"point {index}: {name}", found, expected, tolerance))
    return worst


def check_linear(grid, linear, tolerance):
    sizes = vtk.vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.Update()
    name = {1: "Length", 2: "Area", 3: "Volume"}[linear["dim"]]
    array = sizes.GetOutput().GetCellData().GetArray(name)
    sizes = [array.GetTuple1(i) for i in range(grid.GetNumberOfCells())]
    need(min(sizes) > 0.0, f"a cell has size {min(sizes)}")
    worst = compare("total size", [sum(sizes)], [linear["size"]], tolerance)

    if linear["dim"] > 1:  # VTK's search by position finds no lines
        locator = vtk.vtkStaticCellLocator()
        locator.SetDataSet(grid)
        locator.BuildLocator()
        for x in linear["inside"]:
            need(locator.FindCell(x) >= 0, f"no cell holds {x}")

    pick = random.Random(1)
    for index in range(grid.GetNumberOfCells()):
        for _ in range(3):
            at = [pick.uniform(0.1, 0.3) for _ in range(3)]
            found = evaluate(grid, index, at)
            law = linear["law"][0] + sum(c * x for c, x in zip(linear["law"][1:], found["x"]))
            worst = max(worst, compare(f"cell {index}: Pressure", found["Pressure"], [law], tolerance))
    return worst


def check(directory, expected):
    path = directory / expected["file"]
    head = path.read_bytes()[:200]
    versions = [b'"UnstructuredGrid" version="1.0"', b'"UnstructuredGrid" version="2.2"']
    need(any(version in head for version in versions), "not a file of version 1.0 or 2.2")
    grid = read(path)
    tolerance = expected["tolerance"]
    need(grid.GetNumberOfCells() == expected["cells"], f"{grid.GetNumberOfCells()} cells")
    compare("TimeValue", grid.GetFieldData().GetArray("TimeValue").GetTuple(0), [expected["time"]], 0.0)
    kind = {"Float32": vtk.VTK_FLOAT, "Float64": vtk.VTK_DOUBLE}[expected["precision"]]
    fields = grid.GetPointData()
    for array in [grid.GetPoints().GetData()] + [fields.GetArray(a) for a in range(fields.GetNumberOfArrays())]:
        need(array.GetDataType() == kind, f"{array.GetName()} is {array.GetDataTypeAsString()}")
    errors = [check_probe(grid, probe, tolerance) for probe in expected.get("probes", [])]
    errors += [check_point(grid, point, tolerance) for point in expected.get("points", [])]
    if "linear" in expected:
        errors.append(check_linear(grid, expected["linear"], tolerance))
    for name, values in expected.get("data", {}).items():
        array = grid.GetCellData().GetArray(name)
        need(array is not None, f"no cell data {name}")
        errors.append(compare(name, [array.GetTuple1(i) for i in range(len(values))], values, tolerance))
    need(errors, "nothing to compare")
    return max(errors)


def main():
    path = pathlib.Path(sys.argv[1])
    files = json.loads(path.read_text())
    failed, worst = 0, {}
    for expected in files:
        try:
            if "times" in expected:
                check_times(path.parent, expected)
                continue
            error = check(path.parent, expected)
            worst[expected["precision"]] = max(error, worst.get(expected["precision"], 0.0))
        except Difference as difference:
            failed += 1
            print(f"{expected['file']}: {difference}")
    summary = ", ".join(f"{kind} within {error:.1e}" for kind, error in worst.items())
    print(f"VTK {vtk.vtkVersion.GetVTKVersion()}: {len(files) - failed} files agree, {failed} differ; {summary}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
