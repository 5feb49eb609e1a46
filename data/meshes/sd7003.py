#!/usr/bin/env python3
"""A mesh of curved quadrilaterals around the airfoil SD7003, in the shape of a C, of geometry order 3.

    python3 sd7003.py fine.msh               # 3,672 quadrilaterals, made for Re = 60,000 in space
    python3 sd7003.py finer.msh --size 0.7   # smaller elements

The points of the airfoil are those of sd7003.geo, joined by a cubic spline with a corner at the trailing edge;
rows of elements stand on the airfoil and on both sides of the line behind it. Needs numpy only.
"""

import argparse
import os
import re

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ORDER = 3
FAR = 40.0  # the distance of the outer boundary
ANGLE = 4.0  # of the flow, in degrees: the line behind the airfoil turns to it
WIDTH, WIDEST = 2.0, 5.0  # of the mean of directions: in distances from the airfoil, and the largest


def spline(x, y):
    """The natural cubic spline through (x, y) as a function."""
    h = np.diff(x)
    n = len(x)
    a, b = np.zeros((n, n)), np.zeros(y.shape)
    a[0, 0] = a[-1, -1] = 1
    for i in range(1, n - 1):
        a[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        b[i] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    m = np.linalg.solve(a, b)

    def value(t):
        i = np.clip(np.searchsorted(x, t, side="right") - 1, 0, n - 2)
        u, v, w = (t - x[i])[..., None], (x[i + 1] - t)[..., None], h[i][..., None]
        cubic = (m[i] * v**3 + m[i + 1] * u**3) / (6 * w)
        return cubic + (y[i] / w - m[i] * w / 6) * v + (y[i + 1] / w - m[i + 1] * w / 6) * u

    return value


def airfoil():
    """The airfoil as a function of the length from the trailing edge along the lower side, its end, and the front."""
    text = open(os.path.join(HERE, "sd7003.geo")).read()
    found = re.findall(r"Point\((1\d\d)\) = \{([^,]*), ([^,]*), 0\}", text)
    points = np.array([[float(x), float(y)] for _, x, y in found])
    points = np.concatenate([points, points[:1]])[::-1]
    arc = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    return spline(arc, points), arc[-1], arc[np.argmin(points[:, 0])]


def places(length, sizes):
    """Places along [0, length] with about the sizes that are given at some of them."""
    t = np.linspace(0, length, 20001)
    density = 1 / np.interp(t, *np.array(sizes).T)
    count = np.concatenate([[0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(t))])
    n = round(count[-1])
    return np.interp(np.arange(n + 1) / n * count[-1], count, t)


def growing(first, stages):
    """Places from 0 whose distances grow by a factor up to a place, then by another."""
    out, h = [0.0], first
    for factor, end in stages:
        while out[-1] < end:
            out.append(out[-1] + h)
            h *= factor
    return np.array(out)


def refined(places):
    """Each interval in ORDER parts."""
    n = len(places) - 1
    return np.interp(np.arange(ORDER * n + 1) / ORDER, np.arange(n + 1), places)


def mesh(size):
    """The nodes, `[row][along the C]`, and the numbers of intervals behind the airfoil and on it."""
    curve, length, front = airfoil()
    sizes = [(0, 0.009), (0.08, 0.035), (front - 0.15, 0.035), (front - 0.01, 0.006), (front + 0.01, 0.006)]
    sizes += [(front + 0.1, 0.019), (front + 0.9, 0.019), (length, 0.009)]
    on_wall = refined(places(length, [(s, size * h) for s, h in sizes]))
    behind = refined(growing(0.009 * size, [(1.18**size, 0.8), (1.7**size, FAR)]))
    rows = refined(growing(0.0055 * size, [(1.18**size, 0.13), (1.75**size, FAR)]))

    # The line behind leaves between both sides and turns to the flow.
    ends = curve(np.array([1e-3, length - 1e-3])) - curve(np.array([0.0]))
    ends /= np.linalg.norm(ends, axis=1)[:, None]
    out = -ends.sum(axis=0)
    start = np.arctan2(out[1], out[0])
    turn = np.radians(ANGLE) + (start - np.radians(ANGLE)) * np.exp(-behind / 0.3)
    middle = 0.5 * (turn[1:] + turn[:-1])
    steps = np.diff(behind)[:, None] * np.stack([np.cos(middle), np.sin(middle)], axis=1)
    wake = curve(np.array([0.0])) + np.concatenate([[[0, 0]], np.cumsum(steps, axis=0)])

    # Along the C: in from behind below, around the airfoil, out behind above.
    around = curve(on_wall)
    base = np.concatenate([wake[:0:-1], around, wake[1:]])
    d = curve(on_wall + 1e-6) - curve(on_wall - 1e-6)
    heading = np.unwrap(np.arctan2(d[:, 1], d[:, 0]))
    # Whole turns, so that the headings change little at the trailing edge.
    whole = lambda at: 2 * np.pi * round(at / (2 * np.pi))
    first = turn[:0:-1] + np.pi + whole(heading[0] - turn[1] - np.pi)
    last = turn[1:] + whole(heading[-1] - turn[1])
    heading = np.concatenate([first, heading, last])
    # The further away, the wider is the part of the C whose mean direction a row has, or rows would meet at the
    # trailing edge.
    arc = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(base, axis=0), axis=1))])
    points = []
    for row in rows:
        weight = np.exp(-(((arc[:, None] - arc) / min(1e-9 + WIDTH * row, WIDEST)) ** 2)) * np.gradient(arc)
        mean = weight @ heading / weight.sum(axis=1)
        points.append(base + row * np.stack([-np.sin(mean), np.cos(mean)], axis=1))
    return np.array(points), len(behind) - 1, len(on_wall) - 1


def write(path, points, behind, wall):
    rows, n = points.shape[0] - 1, points.shape[1] - 1
    number = np.arange(points.shape[0] * points.shape[1]).reshape(points.shape[:2])
    # Below and above the line behind, the nodes are the same.
    number[0, : behind + 1] = number[0, : -behind - 2 : -1]
    used, number = np.unique(number, return_inverse=True)
    number = number.reshape(points.shape[:2]) + 1
    xy = points.reshape(-1, 2)[used]
    # The lattice of a quadrilateral in Gmsh's order.
    lattice = [(0, 0), (3, 0), (3, 3), (0, 3), (1, 0), (2, 0), (3, 1), (3, 2), (2, 3), (1, 3), (0, 2), (0, 1)]
    lattice += [(1, 1), (2, 1), (2, 2), (1, 2)]
    cells = [
        [number[j + l, i + k] for k, l in lattice] for j in range(0, rows, ORDER) for i in range(0, n, ORDER)
    ]
    line = lambda nodes: [nodes[0], nodes[3], nodes[1], nodes[2]]
    walls = [line(number[0, i : i + 4]) for i in range(behind, behind + wall, ORDER)]
    far = [line(number[-1, i : i + 4]) for i in range(0, n, ORDER)]
    far += [line(number[j : j + 4, i]) for i in (0, n) for j in range(0, rows, ORDER)]
    elements = [(26, 1, x) for x in walls] + [(26, 2, x) for x in far] + [(36, 3, x) for x in cells]
    with open(path, "w") as out:
        out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n")
        out.write('1 1 "airfoil"\n1 2 "far"\n2 3 "fluid"\n$EndPhysicalNames\n')
        out.write(f"$Nodes\n{len(xy)}\n")
        out.writelines(f"{i + 1} {x:.15g} {y:.15g} 0\n" for i, (x, y) in enumerate(xy))
        out.write(f"$EndNodes\n$Elements\n{len(elements)}\n")
        for i, (kind, group, nodes) in enumerate(elements):
            out.write(f"{i + 1} {kind} 2 {group} {group} {' '.join(map(str, nodes))}\n")
        out.write("$EndElements\n")
    print(f"{path}: {len(cells)} quadrilaterals, {len(walls)} on the airfoil, {rows // ORDER} layers")


def main():
    parser = argparse.ArgumentParser(description="A mesh of curved quadrilaterals around SD7003.")
    parser.add_argument("output", help="the file")
    parser.add_argument("--size", type=float, default=1.0, help="a factor on all sizes")
    arguments = parser.parse_args()
    write(arguments.output, *mesh(arguments.size))


if __name__ == "__main__":
    main()
