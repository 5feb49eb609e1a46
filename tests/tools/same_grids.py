"""Compares the grids of two files with VTK: the cells of both by their element, points and values one by one.

usage: same_grids.py ONE.vtu OTHER.pvtu
Exit code 1 and a line if they differ in more than the order of cells.
"""

import sys

import vtk


def read(path):
    kind = vtk.vtkXMLPUnstructuredGridReader if path.endswith(".pvtu") else vtk.vtkXMLUnstructuredGridReader
    reader, errors = kind(), []

    def note(_object, _event, text=""):
        errors.append(text)

    note.CallDataType = vtk.VTK_STRING
    reader.AddObserver("ErrorEvent", note)
    reader.SetFileName(path)
    reader.Update()
    if errors:
        sys.exit(f"{path}: VTK complains: {errors}")
    return reader.GetOutput()


def arrays(data):
    return {data.GetArrayName(i): data.GetArray(i) for i in range(data.GetNumberOfArrays())}


def cells(grid):
    """Type, coordinates and values of the cells of each element, in the order of the file."""
    at_points, at_cells = arrays(grid.GetPointData()), arrays(grid.GetCellData())
    found = {}
    for c in range(grid.GetNumberOfCells()):
        ids = grid.GetCell(c).GetPointIds()
        points = [ids.GetId(i) for i in range(ids.GetNumberOfIds())]
        values = {name: [array.GetTuple(p) for p in points] for name, array in at_points.items()}
        values |= {name: array.GetTuple(c) for name, array in at_cells.items()}
        cell = (grid.GetCellType(c), [grid.GetPoint(p) for p in points], values)
        found.setdefault(at_cells["element_id"].GetTuple(c)[0], []).append(cell)
    return found


def main(one, other):
    a, b = read(one), read(other)
    counts = [(grid.GetNumberOfPoints(), grid.GetNumberOfCells()) for grid in (a, b)]
    if counts[0] != counts[1] or counts[0][1] == 0:
        sys.exit(f"points and cells: {counts[0]} and {counts[1]}")
    a, b = cells(a), cells(b)
    for element in sorted(a.keys() | b.keys()):
        if repr(a.get(element)) != repr(b.get(element)):
            sys.exit(f"element {element}: {a.get(element)} and {b.get(element)}")


main(*sys.argv[1:])
