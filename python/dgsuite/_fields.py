"""Fields as NumPy arrays, read from files of this program without VTK, and their triangles."""

import pathlib
import struct
import xml.etree.ElementTree
import zlib

# Types of VTK's cells: linear, quadratic and Lagrange triangles and quadrilaterals.
TRIANGLES = {5, 22, 69}
QUADRILATERALS = {9, 23, 28, 70}
LINES = {3, 21, 68}
TYPES = {"Float32": "<f4", "Float64": "<f8", "Int64": "<i8", "UInt8": "u1", "Int32": "<i4"}


class Fields(dict):
    """The fields of one time: a dictionary of NumPy arrays with one row for each point, with the coordinates in `points`.
    Each element has points of its own, so that jumps between elements stay.

    time: the time. cells: of each field with one value for each cell, the values. connectivity, offsets, types: the cells
    as in VTK's files: cell k has the points connectivity[offsets[k]:offsets[k + 1]], in the order of its type."""

    def __init__(self, arrays, *, time, cells, connectivity, offsets, types):
        super().__init__(arrays)
        self.time = time
        self.cells = cells
        self.connectivity = connectivity
        self.offsets = offsets
        self.types = types

    def triangles(self):
        """Triangles between the points, as an array with three numbers of points in each row. A cell of higher order is
        divided at all of its points. With matplotlib:

            x, y, _ = fields["points"].T
            axes.tripcolor(x, y, fields.triangles(), fields["Density"], shading="gouraud")

        Solids have no triangles: draw a slice or a boundary, which `dgsuite.export` writes."""
        import numpy

        found = []
        sizes = numpy.diff(self.offsets)
        for kind in numpy.unique(self.types):
            if kind in LINES:
                continue
            if kind not in TRIANGLES | QUADRILATERALS:
                raise ValueError(
                    "the cells are solids, which have no triangles: write a slice or a boundary by "
                    "dgsuite.export(run, slice='z=0') and read it by dgsuite.fields(file)"
                )
            for size in numpy.unique(sizes[self.types == kind]):
                first = self.offsets[:-1][(self.types == kind) & (sizes == size)]
                nodes = self.connectivity[first[:, None] + numpy.arange(size)]
                local = numpy.array(_divided(kind in TRIANGLES, int(size)))
                found.append(nodes[:, local].reshape(-1, 3))
        return numpy.concatenate(found) if found else numpy.empty((0, 3), int)


def _triangle(n):
    """The lattice places of the nodes of a triangle of order n in VTK's order."""
    if n == 0:
        return [(0, 0)]
    nodes = [(0, 0), (n, 0), (0, n)]
    nodes += [(k, 0) for k in range(1, n)] + [(n - k, k) for k in range(1, n)] + [(0, n - k) for k in range(1, n)]
    return nodes + ([(i + 1, j + 1) for i, j in _triangle(n - 3)] if n >= 3 else [])


def _quadrilateral(n):
    """As `_triangle`, of a quadrilateral."""
    inner = range(1, n)
    nodes = [(0, 0), (n, 0), (n, n), (0, n)]
    nodes += [(k, 0) for k in inner] + [(n, k) for k in inner] + [(k, n) for k in inner] + [(0, k) for k in inner]
    return nodes + [(i, j) for j in inner for i in inner]


def _divided(is_triangle, size):
    """The triangles of a cell with so many nodes, by numbers of nodes."""
    n = 1
    while ((n + 1) * (n + 2) // 2 if is_triangle else (n + 1) ** 2) < size:
        n += 1
    places = _triangle(n) if is_triangle else _quadrilateral(n)
    if len(places) != size:
        raise ValueError(f"a cell with {size} nodes is not one of this program")
    at = {place: node for node, place in enumerate(places)}
    found = []
    for j in range(n):
        for i in range(n):
            corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            if not is_triangle or i + j + 2 <= n:
                found += [[corners[0], corners[1], corners[3]], [corners[1], corners[2], corners[3]]]
            elif i + j + 1 <= n:
                found.append([corners[0], corners[1], corners[3]])
    return [[at[place] for place in triangle] for triangle in found]


def read(path):
    """Reads a .vtu file of this program, or a .pvtu file with its pieces, as Fields."""
    import numpy

    path = pathlib.Path(path)
    if path.suffix == ".pvtu":
        pieces = [piece.get("Source") for piece in xml.etree.ElementTree.parse(path).iter("Piece")]
        return _joined([read(path.parent / piece) for piece in pieces])
    data = path.read_bytes()
    mark = data.find(b'<AppendedData encoding="raw">')
    if mark < 0:
        raise ValueError(f"{path} is not a file of this program: it has no appended data")
    start = data.index(b"_", mark) + 1
    root = xml.etree.ElementTree.fromstring(data[:mark] + b"</VTKFile>")

    def array(tag):
        kind = numpy.dtype(TYPES[tag.get("type")])
        values = numpy.frombuffer(_inflated(data, start + int(tag.get("offset"))), kind)
        components = int(tag.get("NumberOfComponents") or 1)
        return values.reshape(-1, components) if components > 1 else values

    def arrays(name):
        section = root.find(f".//{name}")
        return {} if section is None else {tag.get("Name"): array(tag) for tag in section}

    time = next((float(tag.text) for tag in root.iter("DataArray") if tag.get("Name") == "TimeValue"), None)
    (points,), cells = arrays("Points").values(), arrays("Cells")
    return Fields(
        {"points": points.reshape(-1, 3), **arrays("PointData")},
        time=time,
        cells=arrays("CellData"),
        connectivity=cells["connectivity"],
        offsets=numpy.concatenate([[0], cells["offsets"]]).astype(int),
        types=cells["types"],
    )


def _inflated(data, at):
    """Bytes in compressed blocks: their number, size, size of the last one (0: full), compressed sizes, blocks."""
    count, size, last = struct.unpack_from("<3Q", data, at)
    sizes = struct.unpack_from(f"<{count}Q", data, at + 24)
    at += 24 + 8 * count
    blocks = []
    for length in sizes:
        blocks.append(zlib.decompress(data[at : at + length]))
        at += length
    return b"".join(blocks)


def _joined(pieces):
    """Several pieces as one."""
    import numpy

    def all_of(get):
        return {name: numpy.concatenate([get(piece)[name] for piece in pieces]) for name in get(pieces[0])}

    points = numpy.cumsum([0] + [len(piece["points"]) for piece in pieces])
    ends = numpy.cumsum([0] + [len(piece.connectivity) for piece in pieces])
    offsets = [piece.offsets[1:] + end for piece, end in zip(pieces, ends)]
    return Fields(
        all_of(dict),
        time=pieces[0].time,
        cells=all_of(lambda piece: piece.cells),
        connectivity=numpy.concatenate([piece.connectivity + first for piece, first in zip(pieces, points)]),
        offsets=numpy.concatenate([[0], *offsets]).astype(int),
        types=numpy.concatenate([piece.types for piece in pieces]),
    )


def of_grid(grid, time):
    """The fields of a vtkUnstructuredGrid."""
    import numpy
    from vtkmodules.util.numpy_support import vtk_to_numpy

    def arrays(data):
        return {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}

    cells = grid.GetCells()
    return Fields(
        {"points": vtk_to_numpy(grid.GetPoints().GetData()), **arrays(grid.GetPointData())},
        time=time,
        cells=arrays(grid.GetCellData()),
        connectivity=vtk_to_numpy(cells.GetConnectivityArray()),
        offsets=vtk_to_numpy(cells.GetOffsetsArray()).astype(int),
        types=numpy.array([grid.GetCellType(k) for k in range(grid.GetNumberOfCells())], dtype="u1"),
    )
