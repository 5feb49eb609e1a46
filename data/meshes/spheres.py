#!/usr/bin/env python3
"""Meshes of the space around a sphere of diameter 1, of one shape and of geometry order 2, of any size.

    python3 spheres.py hex 12 24 hex.msh       # 6 n² m hexahedra: n along an edge of the mapped cube, m layers
    python3 spheres.py prism 15 15 prism.msh   # 12 n² m prisms
    python3 spheres.py tet 0.187 tet.msh       # tetrahedra by Gmsh (pip install gmsh), of this size on the sphere

The first two need numpy only. Layers grow by the same factor up to the radius 10; nodes lie on spheres.
"""

import sys

import numpy as np

RADII = 0.5, 10.0

# For each shape and its faces on the sphere: Gmsh's type, the number of vertices, and the vertices that are
# averaged for the other nodes.
EDGES = "01 03 04 12 15 23 26 37 45 47 56 67"
KINDS = {
    "hex": (12, 8, f"{EDGES} 0123 0145 0347 1256 2367 4567 01234567", 10, 4, "01 12 23 30 0123"),
    "prism": (13, 6, "01 02 03 12 14 25 34 35 45 0134 0235 1245", 9, 3, "01 12 20"),
}


def nodes_of(vertices, means):
    """All nodes of cells with these vertices, `[cell][node][lattice]`."""
    more = [vertices[:, [int(v) for v in group]].mean(axis=1) for group in means.split()]
    return np.concatenate([vertices, np.stack(more, axis=1)], axis=1).round().astype(int)


def surface(n, shape):
    """The cells on the surface of the cube [0, 2n]³, seen from outside anticlockwise, `[cell][vertex][x, y, z]`."""
    out = []
    for axis in range(3):
        for side in (0, 1):
            for i in range(0, 2 * n, 2):
                for j in range(0, 2 * n, 2):
                    corners = [(i, j), (i + 2, j), (i + 2, j + 2), (i, j + 2)]
                    corners = corners if side else corners[::-1]
                    quad = [np.roll([2 * n * side, a, b], axis) for a, b in corners]
                    out += [quad] if shape == "hex" else [quad[:3], [quad[0], quad[2], quad[3]]]
    return np.array(out)


def layered(shape, n, m, path):
    kind, _, means, wall_kind, _, wall_means = KINDS[shape]
    cells = surface(n, shape)
    level = lambda k: np.concatenate([cells, np.full(cells.shape[:2] + (1,), 2 * k)], axis=2)
    solid = np.concatenate([nodes_of(np.concatenate([level(k), level(k + 1)], axis=1), means) for k in range(m)])
    walls = [nodes_of(level(k), wall_means) for k in (0, m)]
    every = np.concatenate([x.reshape(-1, 4) for x in [solid, *walls]])
    places, numbers = np.unique(every, axis=0, return_inverse=True)
    numbers = numbers.reshape(-1) + 1
    # Lines of the cube at equal angles; between two layers half way.
    flat = np.tan(np.pi / 4 * (places[:, :3] / n - 1))
    radii = RADII[0] * (RADII[1] / RADII[0]) ** (np.arange(m + 1) / m)
    radius = np.interp(places[:, 3] / 2, np.arange(m + 1), radii)
    points = flat / np.linalg.norm(flat, axis=1, keepdims=True) * radius[:, None]
    split = np.split(numbers, np.cumsum([solid.shape[0] * solid.shape[1], walls[0].shape[0] * walls[0].shape[1]]))
    groups = [(wall_kind, 1, split[1].reshape(walls[0].shape[:2]))]
    groups += [(wall_kind, 2, split[2].reshape(walls[1].shape[:2])), (kind, 3, split[0].reshape(solid.shape[:2]))]
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n")
        file.write('2 1 "sphere"\n2 2 "far"\n3 3 "fluid"\n$EndPhysicalNames\n')
        file.write(f"$Nodes\n{len(points)}\n")
        np.savetxt(file, np.column_stack([np.arange(1, len(points) + 1), points]), fmt="%d %.16g %.16g %.16g")
        file.write(f"$EndNodes\n$Elements\n{sum(len(nodes) for _, _, nodes in groups)}\n")
        first = 1
        for kind, tag, nodes in groups:
            head = np.tile([kind, 2, tag, tag], (len(nodes), 1))
            np.savetxt(file, np.column_stack([np.arange(first, first + len(nodes)), head, nodes]), fmt="%d")
            first += len(nodes)
        file.write("$EndElements\n")
    print(f"{path}: {len(solid)} elements of shape {shape}, {len(points)} nodes")


def tetrahedra(size, path):
    import gmsh

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.option.setNumber("General.NumThreads", 1)
    shell = gmsh.model.occ.cut([(3, gmsh.model.occ.addSphere(0, 0, 0, RADII[1]))], [(3, gmsh.model.occ.addSphere(0, 0, 0, RADII[0]))])
    gmsh.model.occ.synchronize()
    faces = [tag for _, tag in gmsh.model.getEntities(2)]
    inner = [tag for tag in faces if gmsh.model.getBoundingBox(2, tag)[3] < 1]
    gmsh.model.addPhysicalGroup(2, inner, name="sphere")
    gmsh.model.addPhysicalGroup(2, [tag for tag in faces if tag not in inner], name="far")
    gmsh.model.addPhysicalGroup(3, [tag for _, tag in shell[0]], name="fluid")
    field = gmsh.model.mesh.field.add("MathEval")
    gmsh.model.mesh.field.setString(field, "F", f"{size}*(1 + 0.75*(sqrt(x^2 + y^2 + z^2)/{RADII[0]} - 1))")
    gmsh.model.mesh.field.setAsBackgroundMesh(field)
    for name in ("Mesh.MeshSizeExtendFromBoundary", "Mesh.MeshSizeFromPoints", "Mesh.MeshSizeFromCurvature"):
        gmsh.option.setNumber(name, 0)
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.setOrder(2)
    gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
    gmsh.option.setNumber("Mesh.Binary", 1)
    gmsh.write(path)
    print(f"{path}: {len(gmsh.model.mesh.getElementsByType(11)[0])} tetrahedra")
    gmsh.finalize()


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "tet":
        tetrahedra(float(sys.argv[2]), sys.argv[3])
    elif len(sys.argv) == 5 and sys.argv[1] in KINDS:
        layered(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        sys.exit(__doc__)
