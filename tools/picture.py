#!/usr/bin/env python3
"""Draws a field of a .vtu or .pvd file into a PNG picture, without a window.

    tools/picture.py FILE --field NAME [options]

In two dimensions the picture shows the field by colours. In three dimensions it shows a slice
(--slice z=0) or surfaces of equal value (--surface QCriterion=0.5). High-order cells are evaluated on a fine
lattice in each cell, so that curved edges are curved and polynomials are smooth.

Needs Python with VTK 9.1 or newer, NumPy and Pillow (pip install vtk numpy pillow), and OpenGL: without a
display VTK uses EGL or OSMesa.

examples:

  the last time of a run, the Mach number:
    tools/picture.py out/vortex/fields.pvd --field Mach

  vorticity of a wake, cropped, with a symmetric range and a diverging map:
    tools/picture.py out/cylinder-wake/fields.pvd --field Vorticity --map diverging --range -2 2 \\
      --window -2 18 -3 3 --width 1200 --bar bottom -o wake.png

  pressure at t = 5, with twelve contour lines and the edges of the elements:
    tools/picture.py out/vortex/fields.pvd --time 5 --field Pressure --contours 12 --mesh

  a component of the velocity on the plane z = 0 of a mesh in three dimensions:
    tools/picture.py out/sphere/fields.pvd --field Velocity --component x --slice z=0 --window -1 4 -1.5 1.5

  surfaces of the Q criterion in their box, coloured by speed (the magnitude of a vector is the default):
    tools/picture.py out/taylor-green/fields.pvd --surface QCriterion=0.5 --field Velocity --label Speed --box
"""

import argparse
import itertools
import math
import pathlib
import sys
import xml.etree.ElementTree

import numpy as np
from PIL import Image, ImageDraw, ImageFont

# Modules one by one: `import vtk` loads all of them, which takes seconds.
import vtkmodules.vtkInteractionStyle  # noqa: F401
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkLogger, vtkLookupTable, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPlane, vtkPolyData, vtkUnstructuredGrid
from vtkmodules.vtkFiltersCore import (vtkAppendPolyData, vtkContourFilter, vtkCutter, vtkFeatureEdges,
                                       vtkPolyDataNormals, vtkStaticCleanPolyData)
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
from vtkmodules.vtkRenderingCore import (vtkActor, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow,
                                         vtkWindowToImageFilter)

# Matplotlib's viridis (perceptually uniform), Moreland's diverging map, and grey: colours at equal distances.
MAPS = {
    "viridis": "440154 481567 482677 453781 3f4788 39558c 32648e 2d718e 287d8e 238a8d 1f968b 20a386 29af7f "
               "3cbc75 56c667 74d055 94d840 b8de29 dce318 fde725",
    "diverging": "3b4cc0 5572df 7295f4 8fb1fe aac7fd c5d6f2 dddcdc efcebd f7b89c f49a7b e7745b d44e41 b40426",
    "grey": "202020 f8f8f8",
}
LINEAR = {3: 1, 5: 2, 9: 2, 10: 3, 12: 3, 13: 3, 14: 3}                   # VTK's cell types and dimensions
LAGRANGE = {68: 1, 69: 2, 70: 2, 71: 3, 72: 3, 73: 3}
FACES = {10: [(0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3)],
         12: [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
         13: [(0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)],
         14: [(0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]}
BATCH = 1_000_000                                                         # small cells at a time


class Mistake(Exception):
    """A mistake in the input, which the user can correct."""


def lattice(kind, n):
    """Parametric points of a Lagrange cell cut `n` times a direction, its small cells and their VTK type."""
    points, index = [], {}

    def at(*where):
        if where not in index:
            index[where] = len(points)
            points.append([w / n for w in where] + [0.0] * (3 - len(where)))
        return index[where]

    small = []
    if kind == 68:
        return [[i / n, 0, 0] for i in range(n + 1)], [(i, i + 1) for i in range(n)], 3
    if kind == 70:
        for i, j in itertools.product(range(n), repeat=2):
            small.append((at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)))
        return points, small, 9
    if kind == 72:
        for i, j, k in itertools.product(range(n), repeat=3):
            square = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            small.append(tuple(at(*x, k + c) for c in (0, 1) for x in square))
        return points, small, 12
    if kind == 71:
        # Kuhn's cut of cubes, restricted to n >= x >= y >= z >= 0, which is the tetrahedron.
        for base in itertools.product(range(n), repeat=3):
            for order in itertools.permutations(range(3)):
                path = [list(base)]
                for axis in order:
                    path.append(path[-1].copy())
                    path[-1][axis] += 1
                if all(n >= x >= y >= z for x, y, z in path):
                    small.append(tuple(at(x - y, y - z, z) for x, y, z in path))
        return points, small, 10
    flat = []
    for i, j in itertools.product(range(n), repeat=2):
        if i + j < n:
            flat.append(((i, j), (i + 1, j), (i, j + 1)))
        if i + j < n - 1:
            flat.append(((i + 1, j), (i + 1, j + 1), (i, j + 1)))
    if kind == 69:
        return points, [tuple(at(*x) for x in corners) for corners in flat], 5
    for k, corners in itertools.product(range(n), flat):
        small.append(tuple(at(*x, k + c) for c in (0, 1) for x in corners))
    return points, small, 13


def outline(small, kind):
    """Sides of the small cells which are on the surface of the cell: those that occur once."""
    sides = {}
    for cell in small:
        if kind in (5, 9):
            found = [(cell[i - 1], cell[i]) for i in range(len(cell))]
        else:
            found = [tuple(cell[i] for i in face) for face in FACES[kind]]
        for side in found:
            sides.setdefault(tuple(sorted(side)), []).append(side)
    return [found[0] for found in sides.values() if len(found) == 1]


def read(path, time):
    """The grid of a .vtu file, or of the time of a .pvd file that is nearest to `time` (None: the last)."""
    path = pathlib.Path(path)
    if not path.is_file():
        raise Mistake(f"{path}: there is no such file")
    if path.suffix == ".pvd":
        entries = xml.etree.ElementTree.parse(path).iter("DataSet")
        found = [(float(e.get("timestep", 0)), e.get("file")) for e in entries]
        if not found:
            raise Mistake(f"{path}: no file is named in it")
        last = max(found)[0] if time is None else time
        path = path.parent / min(found, key=lambda entry: abs(entry[0] - last))[1]
    reader = vtkXMLUnstructuredGridReader()
    if not reader.CanReadFile(str(path)):
        raise Mistake(f"{path}: not a file of VTK's unstructured grids")
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def component(values, which):
    """A scalar for each point: the values, a component or the magnitude."""
    if values.ndim == 1:
        return values
    return np.linalg.norm(values, axis=1) if which == "magnitude" else values[:, "xyz".index(which)]


class Cells:
    """The cells of a grid of one kind: nodes, values there, and how to evaluate them on a lattice."""

    def __init__(self, kind, nodes, weights, small, small_kind):
        self.kind, self.nodes, self.weights = kind, nodes, weights
        self.small, self.small_kind = np.array(small), small_kind
        self.dimension = LINEAR[small_kind]

    def batches(self, keep):
        """Node lists of the cells that are kept, a batch at a time."""
        nodes = self.nodes[keep]
        step = max(1, BATCH // len(self.small))
        for start in range(0, len(nodes), step):
            yield nodes[start:start + step]

    def fine(self, nodes, values):
        """Values at the lattice points of these cells, cell by cell."""
        fine = np.einsum("ln,cn...->cl...", self.weights, values[nodes], optimize=True)
        return fine.reshape((-1,) + values.shape[1:])

    def connect(self, count, small=None):
        """Small cells (or the `small` ones given) of `count` cells."""
        small = self.small if small is None else np.array(small)
        return (small[None] + np.arange(count)[:, None, None] * len(self.weights)).reshape(-1, small.shape[1])


def order(kind, size):
    """The order of a Lagrange cell with `size` nodes."""
    nodes = {68: lambda p: p + 1, 69: lambda p: (p + 1) * (p + 2) // 2, 70: lambda p: (p + 1) ** 2,
             71: lambda p: (p + 1) * (p + 2) * (p + 3) // 6, 72: lambda p: (p + 1) ** 3,
             73: lambda p: (p + 1) ** 2 * (p + 2) // 2}[kind]
    return next(p for p in range(1, 100) if nodes(p) >= size)


def cells_of(grid, subdivide):
    """Cells of a grid by kind and number of nodes, all high-order cells divided into the same number of parts."""
    kinds = vtk_to_numpy(grid.GetCellTypesArray())
    offsets = vtk_to_numpy(grid.GetCells().GetOffsetsArray())
    nodes = vtk_to_numpy(grid.GetCells().GetConnectivityArray())
    sizes = np.diff(offsets)
    found, groups = [], sorted(set(zip(kinds.tolist(), sizes.tolist())))
    highest = max((order(*group) for group in groups if group[0] in LAGRANGE), default=1)
    solid = any((LAGRANGE | LINEAR).get(kind) == 3 for kind, _ in groups)
    n = subdivide or (math.ceil(1.25 * highest) if solid else max(6, 2 * highest))
    for kind, size in groups:
        at = np.flatnonzero((kinds == kind) & (sizes == size))
        table = nodes[offsets[at][:, None] + np.arange(size)]
        if kind in LINEAR:
            found.append(Cells(kind, table, np.eye(size), [tuple(range(size))], kind))
        elif kind in LAGRANGE:
            points, small, small_kind = lattice(kind, n)
            cell, weights = grid.GetCell(int(at[0])), []
            for point in points:
                row = [0.0] * size
                cell.InterpolateFunctions(point, row)
                weights.append(row)
            found.append(Cells(kind, table, np.array(weights), small, small_kind))
        else:
            raise Mistake(f"cells of VTK's type {kind} cannot be drawn")
    return found


def dataset(points, cells, kind, scalars):
    """Small cells as polygons or lines, or as an unstructured grid where they have a volume."""
    place = vtkPoints()
    place.SetData(numpy_to_vtk(np.ascontiguousarray(points, dtype=np.float32), deep=1))
    array = vtkCellArray()
    offsets = np.arange(0, cells.size + 1, cells.shape[1], dtype=np.int64)
    nodes = np.ascontiguousarray(cells, dtype=np.int64).ravel()
    array.SetData(numpy_to_vtkIdTypeArray(offsets, deep=1), numpy_to_vtkIdTypeArray(nodes, deep=1))
    data = vtkPolyData() if LINEAR[kind] < 3 else vtkUnstructuredGrid()
    data.SetPoints(place)
    if LINEAR[kind] == 3:
        data.SetCells(kind, array)
    elif LINEAR[kind] == 2:
        data.SetPolys(array)
    else:
        data.SetLines(array)
    for name, values in scalars.items():
        values = numpy_to_vtk(np.ascontiguousarray(values, dtype=np.float32), deep=1)
        values.SetName(name)
        data.GetPointData().AddArray(values)
    data.GetPointData().SetActiveScalars("colour")
    return data


def joined(parts):
    """Several pieces of polygons as one."""
    append = vtkAppendPolyData()
    for part in parts:
        append.AddInputData(part)
    append.Update()
    return append.GetOutput()


def clean(data, size):
    """The same with equal points merged."""
    merge = vtkStaticCleanPolyData()
    merge.SetInputData(data)
    merge.ToleranceIsAbsoluteOn()
    merge.SetAbsoluteTolerance(1e-6 * size)
    merge.Update()
    return merge.GetOutput()


def means_at_nodes(points, values, size):
    """Values averaged over the nodes that lie at the same place (the solution jumps between elements)."""
    _, index = np.unique(np.round(points / (1e-5 * size)).astype(np.int64), axis=0, return_inverse=True)
    index = index.ravel()
    return (np.bincount(index, weights=values) / np.bincount(index))[index]


def cut(cells, points, colour, axis, position, mesh):
    """The polygons in which a plane cuts cells, and the lines in which it cuts their faces."""
    # Slightly off the requested place: a plane in which faces lie would cut them twice or not at all.
    position += 1e-6 * np.ptp(points[:, axis])
    plane = vtkPlane()
    plane.SetNormal(*np.eye(3)[axis])
    plane.SetOrigin(*(np.eye(3)[axis] * position))

    def through(data):
        cutter = vtkCutter()
        cutter.SetInputData(data)
        cutter.SetCutFunction(plane)
        cutter.GenerateTrianglesOff()
        cutter.Update()
        return cutter.GetOutput()

    polygons, lines = [], []
    for group in (g for g in cells if g.dimension == 3):
        reach = points[group.nodes][:, :, axis]
        low, high = reach.min(1), reach.max(1)
        keep = (low <= position) & (high >= position) & (high > low)
        for nodes in group.batches(keep):
            x, c = group.fine(nodes, points), group.fine(nodes, colour)
            polygons.append(through(dataset(x, group.connect(len(nodes)), group.small_kind, {"colour": c})))
            if mesh:
                faces = outline(map(tuple, group.small), group.small_kind)
                for kind, corners in ((5, 3), (9, 4)):
                    sides = [face for face in faces if len(face) == corners]
                    if sides:
                        lines.append(through(dataset(x, group.connect(len(nodes), sides), kind, {})))
    if not polygons:
        raise Mistake("the plane does not cut the mesh")
    return joined(polygons), lines


def surfaces(cells, points, values, levels, colour):
    """Surfaces of equal `values`, shaded smoothly."""
    parts = []
    for group in (g for g in cells if g.dimension == 3):
        at = values[group.nodes]
        # Polynomials slightly exceed the range of their nodal values.
        slack = 0.1 * (at.max(1) - at.min(1))
        keep = np.zeros(len(at), dtype=bool)
        for level in levels:
            keep |= (at.min(1) - slack <= level) & (at.max(1) + slack >= level)
        for nodes in group.batches(keep):
            fine = {"level": group.fine(nodes, values), "colour": group.fine(nodes, colour)}
            data = dataset(group.fine(nodes, points), group.connect(len(nodes)), group.small_kind, fine)
            data.GetPointData().SetActiveScalars("level")
            contour = vtkContourFilter()
            contour.SetInputData(data)
            contour.ComputeNormalsOff()
            contour.ComputeScalarsOff()
            for i, level in enumerate(levels):
                contour.SetValue(i, level)
            contour.Update()
            parts.append(contour.GetOutput())
    if not parts or not sum(part.GetNumberOfPoints() for part in parts):
        raise Mistake(f"no surface of value {', '.join(f'{x:g}' for x in levels)}: values are from "
                      f"{values.min():g} to {values.max():g}")
    normals = vtkPolyDataNormals()
    normals.SetInputData(clean(joined(parts), np.ptp(points, axis=0).max()))
    normals.SplittingOff()
    normals.Update()
    normals.GetOutput().GetPointData().SetActiveScalars("colour")
    return normals.GetOutput()


def table(name, low, high):
    """256 colours of a map over a range."""
    stops = np.array([[int(c[i:i + 2], 16) / 255 for i in (0, 2, 4)] for c in MAPS[name].split()])
    at = np.linspace(0, len(stops) - 1, 256)
    colours = np.stack([np.interp(at, range(len(stops)), stops[:, i]) for i in range(3)], axis=1)
    lookup = vtkLookupTable()
    lookup.SetNumberOfTableValues(256)
    lookup.SetTableRange(low, high)
    for i, colour in enumerate(colours):
        lookup.SetTableValue(i, *colour, 1)
    return lookup, colours


def actor(data, lookup=None, colour=(0, 0, 0), width=1.0):
    """An object to draw, coloured by its scalars with `lookup`, otherwise in one colour."""
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    if lookup:
        mapper.SetLookupTable(lookup)
        mapper.UseLookupTableScalarRangeOn()
        mapper.InterpolateScalarsBeforeMappingOn()
    else:
        mapper.ScalarVisibilityOff()
    it = vtkActor()
    it.SetMapper(mapper)
    it.GetProperty().SetColor(*colour)
    it.GetProperty().SetLineWidth(width)
    return it


def ticks(low, high, most):
    """Round numbers from `low` to `high`."""
    rough = max((high - low) / most, 1e-300)
    power = 10 ** math.floor(math.log10(rough))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough * (1 - 1e-9))
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def with_bar(picture, where, colours, low, high, label):
    """The picture with a colour bar to its right or below it."""
    width, height = picture.size
    text = max(13, round(0.016 * max(width, height)))
    font = ImageFont.load_default(size=text)
    marks = [(x, f"{x:.6g}") for x in ticks(low, high, 5 if where == "right" else 8)]
    wide = max(int(font.getlength(mark)) for _, mark in marks)
    size = (width + 3 * text + wide, height) if where == "right" else (width, height + 4 * text)
    page = Image.new("RGB", size, "white")
    page.paste(picture)
    draw = ImageDraw.Draw(page)
    ramp = Image.fromarray(np.uint8(np.round(colours[None] * 255)))
    if where == "right":
        start, length = 2 * text, height - 3 * text
        box = (width + text, start, width + 2 * text, start + length)
        page.paste(ramp.rotate(90, expand=True).resize((text, length)), box[:2])
        for x, mark in marks:
            y = start + length * (high - x) / (high - low)
            draw.line((box[2] - 4, y, box[2] + 3, y), "black")
            draw.text((box[2] + 6, y), mark, "black", font, anchor="lm")
        draw.text((size[0] - 4, text // 3), label, "black", font, anchor="ra")
    else:
        length = width // 2
        start = (width - length) // 2
        box = (start, height + text, start + length, height + 2 * text)
        page.paste(ramp.resize((length, text)), box[:2])
        for x, mark in marks:
            at = start + length * (x - low) / (high - low)
            draw.line((at, box[3] - 3, at, box[3] + 4), "black")
            draw.text((at, box[3] + 6), mark, "black", font, anchor="ma")
        draw.text((start - text, height + 1.5 * text), label, "black", font, anchor="rm")
    draw.rectangle(box, outline="black")
    return page


def few_colours(picture, colours):
    """The picture with a palette of 256: half of the map, black, white, and the most frequent other colours."""
    others = np.reshape(picture.quantize(126).getpalette()[:378], (-1, 3))
    palette = [np.round(255 * colours[::2]), others, [[0, 0, 0], [255, 255, 255]]]
    palette = np.concatenate(palette).astype(np.int32)
    found, index = np.unique(np.asarray(picture).reshape(-1, 3), axis=0, return_inverse=True)
    nearest = np.empty(len(found), dtype=np.uint8)
    for start in range(0, len(found), 10_000):
        some = found[start:start + 10_000].astype(np.int32)
        nearest[start:start + 10_000] = ((some[:, None] - palette[None]) ** 2).sum(2).argmin(1)
    page = Image.fromarray(nearest[index.ravel()].reshape(picture.height, picture.width))
    page.putpalette(palette.astype(np.uint8).ravel().tolist())
    return page


def render(actors, camera, width, height):
    """Actors on white, drawn at twice the size and scaled down, which smooths edges."""
    renderer = vtkRenderer()
    renderer.SetBackground(1, 1, 1)
    for it in actors:
        renderer.AddActor(it)
    camera(renderer)
    renderer.ResetCameraClippingRange()
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(2 * width, 2 * height)
    window.AddRenderer(renderer)
    window.Render()
    shot = vtkWindowToImageFilter()
    shot.SetInput(window)
    shot.ReadFrontBufferOff()
    shot.Update()
    image = shot.GetOutput()
    pixels = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(image.GetDimensions()[1], -1, 3)[::-1]
    return Image.fromarray(np.ascontiguousarray(pixels)).resize((width, height), Image.Resampling.LANCZOS)


def flat(options, data, lines, axes, lookup):
    """A picture of polygons in a plane whose horizontal and vertical axes are `axes`."""
    across, up = axes
    x = vtk_to_numpy(data.GetPoints().GetData())
    low, high = x.min(0), x.max(0)
    window = options.window or (low[across], high[across], low[up], high[up])
    spans = (window[1] - window[0], window[3] - window[2])
    width = options.width
    height = max(1, round(width * spans[1] / spans[0]))
    extent = float((high - low).max())
    actors = [actor(data, lookup)]
    actors[0].GetProperty().LightingOff()
    if options.mesh:
        actors += [actor(part, None, (0.3, 0.3, 0.3), 1.5) for part in lines]
    if options.contours:
        first, last = lookup.GetTableRange()
        contour = vtkContourFilter()
        contour.SetInputData(data)
        contour.GenerateValues(options.contours + 2, first, last)
        contour.Update()
        contour.GetOutput().GetPointData().SetScalars(None)
        actors.append(actor(contour.GetOutput(), None, (0.1, 0.1, 0.1), 2.0))
    if options.boundary:
        edges = vtkFeatureEdges()
        edges.SetInputData(clean(data, extent))
        edges.BoundaryEdgesOn()
        edges.FeatureEdgesOff()
        edges.ManifoldEdgesOff()
        edges.NonManifoldEdgesOff()
        edges.ColoringOff()
        edges.Update()
        actors.append(actor(edges.GetOutput(), None, (0, 0, 0), 3.0))

    towards = np.cross(np.eye(3)[across], np.eye(3)[up])
    for i, it in enumerate(actors):
        it.SetPosition(*(1e-3 * i * extent * towards))        # later actors in front of earlier ones

    def camera(renderer):
        middle = 0.5 * (low + high).astype(float)
        middle[across], middle[up] = 0.5 * (window[0] + window[1]), 0.5 * (window[2] + window[3])
        view = renderer.GetActiveCamera()
        view.ParallelProjectionOn()
        view.SetFocalPoint(*middle)
        view.SetPosition(*(middle + 10 * extent * towards))
        view.SetViewUp(*np.eye(3)[up])
        view.SetParallelScale(0.5 * spans[1])

    return render(actors, camera, width, height)


def solid(options, data, lookup, bounds):
    """A picture of surfaces in space, with the body and the box around the mesh if requested."""
    shown = [actor(data, lookup)]
    if options.body:
        shown.append(actor(areas(read(options.body, options.time), options.subdivide), None, (0.7, 0.7, 0.7)))
    for it in shown:
        it.GetProperty().SetSpecular(0.15)
        it.GetProperty().SetAmbient(0.25)
        it.GetProperty().SetDiffuse(0.8)
    if options.box:
        corners = np.array(list(itertools.product(*np.reshape(bounds, (3, 2)))))
        edges = [(i, i | bit) for i in range(8) for bit in (1, 2, 4) if not i & bit]
        shown.append(actor(dataset(corners, np.array(edges), 3, {}), None, (0.3, 0.3, 0.3), 2.0))

    def camera(renderer):
        view = renderer.GetActiveCamera()
        turn, rise = np.radians(options.view)
        view.SetFocalPoint(0, 0, 0)
        view.SetPosition(math.cos(rise) * math.cos(turn), math.cos(rise) * math.sin(turn), math.sin(rise))
        view.SetViewUp(0, 0, 1)
        view.SetViewAngle(20)
        renderer.ResetCamera(bounds if options.box else data.GetBounds())
        view.Zoom(options.zoom)

    return render(shown, camera, options.width, options.height or round(0.75 * options.width))


def areas(grid, subdivide, colour=None, lines=None):
    """All cells with an area as polygons; `lines` receives the edges of the elements."""
    points = vtk_to_numpy(grid.GetPoints().GetData()).astype(float)
    colour = np.zeros(len(points)) if colour is None else colour
    parts = []
    for group in (g for g in cells_of(grid, subdivide) if g.dimension == 2):
        for nodes in group.batches(slice(None)):
            x, c = group.fine(nodes, points), group.fine(nodes, colour)
            parts.append(dataset(x, group.connect(len(nodes)), group.small_kind, {"colour": c}))
            if lines is not None:
                sides = outline(map(tuple, group.small), group.small_kind)
                lines.append(dataset(x, group.connect(len(nodes), sides), 3, {}))
    if not parts:
        raise Mistake("the file has no cells with an area")
    return joined(parts)


def named(data, name):
    """The values of a field at the nodes."""
    names = [data.GetPointData().GetArrayName(i) for i in range(data.GetPointData().GetNumberOfArrays())]
    if name not in names:
        raise Mistake(f"no field {name}; the file has {', '.join(names) or 'none'}")
    return vtk_to_numpy(data.GetPointData().GetArray(name)).astype(float)


def picture(options):
    """Reads, draws and returns the picture, and the range of the colours."""
    grid = read(options.file, options.time)
    points = vtk_to_numpy(grid.GetPoints().GetData()).astype(float)
    cells = cells_of(grid, options.subdivide)
    dimension = max(group.dimension for group in cells)
    size = np.ptp(points, axis=0).max()
    colour = component(named(grid, options.field), options.component)
    if options.smooth or options.surface:
        colour = means_at_nodes(points, colour, size)
    lines, axes = [], (0, 1)
    if options.surface:
        if dimension < 3:
            raise Mistake("surfaces of equal value need a mesh in three dimensions")
        name, levels = options.surface
        level = means_at_nodes(points, component(named(grid, name), "magnitude"), size)
        data = surfaces(cells, points, level, levels, colour)
    elif dimension == 3:
        if not options.slice:
            raise Mistake("a mesh in three dimensions needs --slice or --surface")
        axis, position = options.slice
        axes = ((1, 2), (0, 2), (0, 1))[axis]
        data, lines = cut(cells, points, colour, axis, position, options.mesh)
    else:
        data = areas(grid, options.subdivide, colour, lines)
    data.GetPointData().SetActiveScalars("colour")
    low, high = options.range or data.GetPointData().GetArray("colour").GetRange()
    if options.map == "diverging" and not options.range:
        low, high = -max(abs(low), abs(high)), max(abs(low), abs(high))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    lookup, colours = table(options.map, low, high)
    in_space = options.surface or (dimension == 2 and np.ptp(points[:, 2]) > 1e-6 * size)
    bounds = grid.GetBounds()
    image = solid(options, data, lookup, bounds) if in_space else flat(options, data, lines, axes, lookup)
    if options.bar != "none":
        image = with_bar(image, options.bar, colours, low, high, options.label or options.field)
    return few_colours(image, colours), (low, high)


def plane(text):
    axis, _, position = text.partition("=")
    if axis not in ("x", "y", "z"):
        raise argparse.ArgumentTypeError("x=X, y=X or z=X is expected")
    return "xyz".index(axis), float(position)


def level(text):
    name, _, levels = text.partition("=")
    return name, [float(x) for x in levels.split(",")]


def main():
    about, _, examples = __doc__.partition("examples:")
    parser = argparse.ArgumentParser(
        usage="tools/picture.py FILE --field NAME [options]", description=about,
        epilog="examples:" + examples, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("file", metavar="FILE", help="a .vtu file, or a .pvd file with several times")
    add("--field", required=True, help="the field that gives the colours")
    add("--component", default="magnitude", choices=["x", "y", "z", "magnitude"],
        help="of a vector (default: magnitude)")
    add("--time", type=float, help="the time in a .pvd file; the nearest is taken (default: the last)")
    add("-o", "--output", help="the picture (default: the name of the file with .png)")
    add("--range", type=float, nargs=2, metavar=("LOW", "HIGH"),
        help="values at the ends of the colours (default: the least and the largest)")
    add("--map", default="viridis", choices=list(MAPS), help="colours (default: viridis)")
    add("--contours", type=int, default=0, metavar="N", help="draw N lines of equal value")
    add("--mesh", action="store_true", help="draw the edges of the elements")
    add("--no-boundary", dest="boundary", action="store_false", help="do not draw the boundary of the domain")
    add("--window", type=float, nargs=4, metavar=("LEFT", "RIGHT", "BOTTOM", "TOP"),
        help="the part of the plane that is shown (default: all)")
    add("--slice", type=plane, metavar="AXIS=X", help="a plane of a mesh in three dimensions, as z=0")
    add("--surface", type=level, metavar="FIELD=X[,X]", help="surfaces on which a field has these values")
    add("--view", type=float, nargs=2, default=(-60, 25), metavar=("TURN", "RISE"),
        help="direction from which surfaces are seen: degrees around z from x, and above the xy plane "
             "(default: -60 25)")
    add("--zoom", type=float, default=1.0, help="enlarges surfaces (default: 1)")
    add("--width", type=int, default=900, help="pixels across, without the colour bar (default: 900)")
    add("--box", action="store_true", help="draw the box around the mesh, with surfaces")
    add("--body", metavar="FILE",
        help="draw the polygons of this file in grey, with surfaces (surfaces.pvd of a run)")
    add("--smooth", action="store_true", help="average values where elements meet (always done for surfaces)")
    add("--height", type=int, help="pixels up, of surfaces (default: three quarters of the width)")
    add("--bar", default="right", choices=["right", "bottom", "none"],
        help="place of the colour bar (default: right)")
    add("--label", help="text at the colour bar (default: the name of the field)")
    add("--subdivide", type=int, metavar="N",
        help="parts of a high-order cell in each direction (default: by its order)")
    options = parser.parse_args()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    try:
        image, (low, high) = picture(options)
    except Mistake as mistake:
        sys.exit(f"picture.py: {mistake}")
    output = pathlib.Path(options.output or pathlib.Path(options.file).with_suffix(".png"))
    image.save(output, optimize=True)
    print(f"{output}: {image.size[0]} x {image.size[1]}, {output.stat().st_size / 1024:.0f} kB, "
          f"{options.field} from {low:.4g} to {high:.4g}")


if __name__ == "__main__":
    main()
