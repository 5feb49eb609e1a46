#!/usr/bin/env python3
"""Makes every .msh of this folder again with Gmsh's Python module (pip install gmsh; made with 4.15).

    python3 make.py            # all meshes
    python3 make.py cube-tet   # only meshes whose name starts with this

A finer mesh of a body, with sizes defined in its .geo, and another order of the geometry:

    python3 make.py cylinder --set n=96 --set layers=12 --set wake=0.4 --order 4 --output fine.msh

Meshes with the name of a .geo file are made from it. The files in orders/ contain one element of
each shape, joined and curved by polynomials that preserve the volume; the tests read them to compare
Gmsh's numbering of nodes with ours.
"""

import argparse
import math
import os

import gmsh

HERE = os.path.dirname(os.path.abspath(__file__))
PARSER = argparse.ArgumentParser(description="Makes the meshes of this folder.")
PARSER.add_argument("names", nargs="*", help="only meshes whose name starts with this")
PARSER.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER", help="a size of the .geo")
PARSER.add_argument("--order", type=int, help="order of the geometry")
PARSER.add_argument("--output", help="the file of the one mesh that is made")
ARGUMENTS = PARSER.parse_args()
ONLY = ARGUMENTS.names

# name, geometry, dimension, geometry order, MSH version, binary
MESHES = [
    ("square-tri", "square-tri", 2, 1, 4.1, 1),
    ("square-quad", "square-quad", 2, 1, 4.1, 1),
    ("square-mixed", "square-mixed", 2, 1, 4.1, 1),
    ("sector-tri", "sector-tri", 2, 2, 4.1, 0),
    ("sector-tri-22", "sector-tri", 2, 2, 2.2, 1),
    ("cube-tet", "cube-tet", 3, 1, 4.1, 1),
    ("cube-prism", "cube-prism", 3, 1, 4.1, 1),
    ("cube-hex", "cube-hex", 3, 1, 4.1, 1),
    ("blocks-pyramid", "blocks-pyramid", 3, 1, 4.1, 1),
    ("blocks-pyramid-o2", "blocks-pyramid", 3, 2, 4.1, 1),
    ("l-shape", "l-shape", 2, 1, 4.1, 0),
    ("two-layers", "two-layers", 2, 1, 4.1, 0),
    ("annulus-fuhry", "annulus-fuhry", 2, 1, 4.1, 0),
    ("forward-step", "forward-step", 2, 1, 4.1, 1),
    ("cylinder", "cylinder", 2, 3, 4.1, 1),
    ("cylinder-gao", "cylinder-gao", 2, 3, 4.1, 1),
    ("channel-cylinder", "channel-cylinder", 2, 3, 4.1, 1),
    ("channel-cylinder-3d", "channel-cylinder-3d", 3, 2, 4.1, 1),
    ("circular-cylinder", "circular-cylinder", 2, 3, 4.1, 1),
    ("square-cylinder", "square-cylinder", 2, 1, 4.1, 1),
    ("naca0012", "naca0012", 2, 3, 4.1, 1),
    ("sd7003", "sd7003", 2, 3, 4.1, 1),
    ("sphere", "sphere", 3, 2, 4.1, 1),
] + [
    (f"annulus-{shape}-o{order}", f"annulus-{shape}", 2, order, 4.1, 1)
    for shape in ("tri", "quad")
    for order in (2, 3, 4)
]

# The same square in other formats that users may have. (Partitions differ a little from run to run.)
VARIANTS = {
    "square-tri-22": dict(version=2.2, binary=0),
    "square-tri-22-binary": dict(version=2.2, binary=1),
    "square-tri-41": dict(version=4.1, binary=0),
    "square-tri-partitioned": dict(version=4.1, binary=0, parts=2),
    "square-tri-partitioned-22": dict(version=2.2, binary=1, parts=2),
    "square-tri-40": dict(version=4.0, binary=0),
    "square-quad-serendipity": dict(geo="square-quad", version=4.1, binary=1, order=2, incomplete=1),
    "square-tri-unnamed": dict(version=4.1, binary=0, names=False),
}


def wanted(name):
    return not ONLY or any(name.startswith(start) for start in ONLY)


def start():
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    # One thread and fixed seeds: the same mesh every time.
    gmsh.option.setNumber("General.NumThreads", 1)


def generate(geo, dim, order, incomplete=0):
    for size in ARGUMENTS.set:
        name, value = size.split("=")
        gmsh.onelab.setNumber(name, [float(value)])
    order = ARGUMENTS.order or order
    gmsh.open(os.path.join(HERE, geo + ".geo"))
    gmsh.option.setNumber("Mesh.SecondOrderIncomplete", incomplete)
    gmsh.model.mesh.generate(dim)
    if order > 1:
        gmsh.model.mesh.setOrder(order)
    if geo == "sphere":
        prisms(order, [0.5, 0.545, 0.605, 0.69, 0.8])
    if geo == "annulus-fuhry":
        unroll()


def unroll():
    """Moves all nodes to (angle from the y-axis, radius), from which `mesh.map` of a pipeline file moves them back."""
    tags, points, _ = gmsh.model.mesh.getNodes()
    for i, tag in enumerate(tags):
        x, y = points[3 * i : 3 * i + 2]
        gmsh.model.mesh.setNode(tag, [math.atan2(x, y), math.hypot(x, y), 0], [])


def prisms(order, radii):
    """Layers of prisms between concentric spheres: the triangles of the inner surface of the shell, moved along the radius.

    All nodes are on their spheres, so that the layers fit the shell and the wall exactly.
    """
    surfaces = [tag for _, tag in gmsh.model.getEntities(2)]
    [inner] = [tag for tag in surfaces if max(gmsh.model.getBoundingBox(2, tag)[3:]) < radii[-1] + 0.1]
    shell = [tag for _, tag in gmsh.model.getEntities(3)]
    [kind], _, [nodes] = gmsh.model.mesh.getElements(2, inner)
    _, _, _, count, lattice, _ = gmsh.model.mesh.getElementProperties(kind)
    triangles = [[int(t) for t in nodes[i : i + count]] for i in range(0, len(nodes), count)]
    where = {t: gmsh.model.mesh.getNode(t)[0] for t in sorted(set(sum(triangles, [])))}
    at = {(round(order * lattice[2 * i]), round(order * lattice[2 * i + 1])): i for i in range(count)}
    # Seen from outside, triangles of the shell are numbered in the direction opposite to the first face of a
    # prism.
    turned = [at[s, r] for r, s in sorted(at, key=at.get)]
    a, b, c = (where[t] for t in triangles[0][:3])
    normal = [(b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]) for i, j in ((1, 2), (2, 0), (0, 1))]
    if sum(x * n for x, n in zip(a, normal)) < 0:
        triangles = [[t[k] for k in turned] for t in triangles]

    wall, layers = gmsh.model.addDiscreteEntity(2), gmsh.model.addDiscreteEntity(3)
    gaps = list(zip(radii, radii[1:]))
    levels = [low + (high - low) * j / order for low, high in gaps for j in range(order)]
    number, next_node = {}, int(gmsh.model.mesh.getMaxNodeTag()) + 1
    for level, radius in enumerate(levels):
        for t, x in where.items():
            number[level, t] = next_node
            entity = (2, wall) if level == 0 else (3, layers)
            scale = radius / math.sqrt(sum(x * x))
            gmsh.model.mesh.addNodes(*entity, [next_node], [scale * c for c in x])
            next_node += 1
    number.update({(len(levels), t): t for t in where})

    prism = gmsh.model.mesh.getElementType("Prism", order)
    points = gmsh.model.mesh.getElementProperties(prism)[4]
    points = [points[i : i + 3] for i in range(0, len(points), 3)]
    place = [(at[round(order * r), round(order * s)], round(order * (t + 1) / 2)) for r, s, t in points]
    element = int(gmsh.model.mesh.getMaxElementTag()) + 1
    for layer in range(len(gaps)):
        for t in triangles:
            corners = [number[layer * order + height, t[k]] for k, height in place]
            gmsh.model.mesh.addElementsByType(layers, prism, [element], corners)
            element += 1
    for t in triangles:
        gmsh.model.mesh.addElementsByType(wall, kind, [element], [number[0, x] for x in t])
        element += 1
    gmsh.model.addPhysicalGroup(2, [wall], name="sphere")
    gmsh.model.addPhysicalGroup(2, [tag for tag in surfaces if tag != inner], name="far")
    gmsh.model.addPhysicalGroup(3, shell + [layers], name="fluid")


def write(name, version, binary):
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", binary)
    path = ARGUMENTS.output or os.path.join(HERE, name + ".msh")
    gmsh.write(path)
    kinds = {}
    dim = gmsh.model.getDimension()
    for kind, tags, _ in zip(*gmsh.model.mesh.getElements(dim)):
        kinds[int(kind)] = kinds.get(int(kind), 0) + len(tags)
    print(f"{name:32} {os.path.getsize(path):8} bytes, elements by Gmsh type {kinds}")


def from_geometry():
    for name, geo, dim, order, version, binary in MESHES:
        if wanted(name):
            start()
            generate(geo, dim, order)
            write(name, version, binary)
            gmsh.finalize()
    for name, v in VARIANTS.items():
        if wanted(name):
            start()
            generate(v.get("geo", "square-tri"), 2, v.get("order", 1), v.get("incomplete", 0))
            if not v.get("names", True):
                gmsh.model.removePhysicalGroups()
            if "parts" in v:
                gmsh.option.setNumber("Mesh.PartitionCreateTopology", 1)
                gmsh.option.setNumber("Mesh.PartitionCreateGhostCells", 1)
                gmsh.model.mesh.partition(v["parts"])
            write(name, v["version"], v["binary"])
            gmsh.finalize()


def glued(dim, points, elements, faces):
    """A discrete mesh: `elements` and `faces` are (Gmsh type, first number, vertices).

    The numbers of nodes and elements have gaps on purpose.
    """
    tag = lambda vertices: [10 * v + 7 for v in vertices]
    gmsh.model.addDiscreteEntity(dim, 1)
    for i in range(len(faces)):
        gmsh.model.addDiscreteEntity(dim - 1, i + 1)
    gmsh.model.mesh.addNodes(dim, 1, tag(range(len(points))), sum(map(list, points), []))
    for kind, number, vertices in elements:
        gmsh.model.mesh.addElementsByType(1, kind, [number], tag(vertices))
    for i, (kind, number, vertices) in enumerate(faces):
        gmsh.model.mesh.addElementsByType(i + 1, kind, [number], tag(vertices))
        gmsh.model.addPhysicalGroup(dim - 1, [i + 1], i + 5, f"wall {i + 1}")
    gmsh.model.addPhysicalGroup(dim, [1], 5, "body")


def plane(order):
    """A triangle over a quadrilateral."""
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.25, 2, 0)]
    glued(2, points, [(3, 3, [1, 2, 3, 0]), (2, 11, [4, 3, 2])], [(1, 21, [0, 1]), (1, 31, [2, 4])])


def solid(order):
    """A hexahedron, a prism beside it, a tetrahedron on the prism; to order 2 a pyramid on top."""
    points = [
        (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1),
        (0, 2, 0), (1, 2, 0), (2, 1.25, 0.25), (0.5, 0.5, 2),
    ]
    elements = [
        (5, 3, [1, 2, 3, 0, 5, 6, 7, 4]),
        (6, 5, [9, 2, 6, 8, 3, 7]),
        (4, 11, [10, 2, 6, 9]),
    ]
    if order <= 2:
        elements.append((7, 17, [6, 7, 4, 5, 11]))
    glued(3, points, elements, [(3, 21, [0, 1, 2, 3]), (2, 31, [8, 3, 7])])


def pyramid(order):
    """One pyramid, for the refusal of orders above 2."""
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 1)]
    glued(3, points, [(7, 1, [0, 1, 2, 3, 4])], [])


def bend(dim, order):
    """x += y^n/8 and, in space, z += y^n/16: polynomials of the geometry's order, which preserve volumes."""
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    for i, tag in enumerate(tags):
        x, y, z = coordinates[3 * i : 3 * i + 3]
        gmsh.model.mesh.setNode(tag, [x + y**order / 8, y, z + (y**order / 16 if dim == 3 else 0)], [])


def node_orders():
    forms = [(2.2, 0), (2.2, 1), (4.1, 0), (4.1, 1)]
    cases = [(2, plane, n, f) for n in (1, 2, 3, 4) for f in forms]
    cases += [(3, solid, n, f) for n in (1, 2, 3, 4) for f in forms]
    cases += [(3, pyramid, 3, (4.1, 0))]
    for dim, build, order, (version, binary) in cases:
        form = f"{version * 10:.0f}" + ("-binary" if binary else "")
        name = f"orders/{build.__name__}-o{order}-{form}"
        if wanted(name):
            start()
            gmsh.model.add(build.__name__)
            build(order)
            if order > 1:
                gmsh.model.mesh.setOrder(order)
            bend(dim, order)
            write(name, version, binary)
            gmsh.finalize()


if __name__ == "__main__":
    os.makedirs(os.path.join(HERE, "orders"), exist_ok=True)
    from_geometry()
    node_orders()
