"""Spectral radius of the discontinuous Galerkin operator on lattices of simplices.

Linear Euler flow at rest (sound speed 1), local Lax-Friedrichs flux, modal basis of total degree p, Bloch waves
u(x + L o) = exp(i k.o) u(x). Prints the radius in units of (2p + 1) lambda / h with h = d |E| / (largest face).
These are the numbers of `src/scheme/stability.rs`. Needs numpy and scipy:

    python3 dg_radius.py triangles 10
    python3 dg_radius.py tetrahedra 6
"""

import itertools
import math
import sys

import numpy as np
from scipy.special import roots_jacobi


def rule(d, n):
    """Collapsed Gauss-Jacobi rule on the unit simplex."""
    if d == 0:
        return np.zeros((1, 0)), np.ones(1)
    inner, inner_weights = rule(d - 1, n)
    x, w = roots_jacobi(n, d - 1, 0)
    x, w = (x + 1) / 2, w / 2**d
    points = [np.r_[y * (1 - xi), xi] for xi in x for y in inner]
    return np.array(points), np.array([wi * v for wi in w for v in inner_weights])


class Basis:
    """Orthonormal polynomials on the unit simplex, from monomials by repeated Cholesky factors."""

    def __init__(self, d, p):
        self.powers = [e for e in itertools.product(range(p + 1), repeat=d) if sum(e) <= p]
        self.change = np.eye(len(self.powers))
        x, w = rule(d, p + 2)
        for _ in range(3):
            v = self.values(x)
            self.change = self.change @ np.linalg.inv(np.linalg.cholesky(v.T @ (w[:, None] * v))).T

    def values(self, x):
        x = 2 * x - 0.5
        return np.stack([np.prod(x ** np.array(e), axis=1) for e in self.powers], 1) @ self.change

    def derivatives(self, x, k):
        x = 2 * x - 0.5
        columns = []
        for e in self.powers:
            lower = [q - (i == k) for i, q in enumerate(e)]
            columns.append(2 * e[k] * np.prod(x ** np.maximum(lower, 0), axis=1) if e[k] else np.zeros(len(x)))
        return np.stack(columns, 1) @ self.change


def radius(d, p, lattice, cells, wave):
    n = d + 2  # pressure, velocity, entropy
    flux = []
    for k in range(d):
        a = np.zeros((n, n))
        a[0, 1 + k] = a[1 + k, 0] = 1.0
        flux.append(a)
    basis = Basis(d, p)
    x, w = rule(d, p + 2)
    fx, fw = rule(d - 1, p + 1)
    v = basis.values(x)
    size = v.shape[1] * n
    geometry = []
    for cell in cells:
        corners = np.array(cell, float)
        points = corners @ lattice
        edges = (points[1:] - points[0]).T
        geometry.append((corners, points, np.linalg.det(edges), np.linalg.inv(edges)))
    block = lambda i, j: np.ix_(range(i * size, (i + 1) * size), range(j * size, (j + 1) * size))
    reference = lambda y, g: (g[3] @ ((y @ lattice) - g[1][0]).T).T
    operator = np.zeros((len(cells) * size,) * 2, complex)
    h = math.inf
    for i, g in enumerate(geometry):
        corners, points, det, inverse = g
        for k in range(d):
            gradient = sum(basis.derivatives(x, r) * inverse[r, k] for r in range(d))
            operator[block(i, i)] += np.kron(gradient.T @ (w[:, None] * v), flux[k])
        largest = 0.0
        for f in range(d + 1):
            face = [q for q in range(d + 1) if q != f]
            y = np.c_[1 - fx.sum(1), fx] @ corners[face]
            tangents = points[face][1:] - points[face][0]
            area = math.sqrt(np.linalg.det(tangents @ tangents.T))
            largest = max(largest, area / math.factorial(d - 1))
            normal = np.linalg.svd(tangents)[2][-1]
            normal = normal * np.sign(normal @ (points[face].mean(0) - points[f]))
            wanted = {tuple(q) for q in np.round(corners[face], 6)}
            j, offset = next(
                (j, o)
                for j, other in enumerate(geometry)
                for o in (np.array(q) - 1.0 for q in np.ndindex(*([3] * d)))
                if (j != i or o.any()) and wanted <= {tuple(q) for q in np.round(other[0] + o, 6)}
            )
            minus, plus = basis.values(reference(y, g)), basis.values(reference(y - offset, geometry[j]))
            normal_flux = sum(flux[k] * normal[k] for k in range(d))
            weights = (fw * area / det)[:, None]
            phase = np.exp(1j * wave @ offset)
            operator[block(i, i)] -= np.kron(minus.T @ (weights * minus), 0.5 * (normal_flux + np.eye(n)))
            operator[block(i, j)] -= phase * np.kron(minus.T @ (weights * plus), 0.5 * (normal_flux - np.eye(n)))
        h = min(h, d * det / math.factorial(d) / largest)
    return np.abs(np.linalg.eigvals(operator)).max() * h / (2 * p + 1)


def kuhn(lattice):
    """The six tetrahedra of a cell; with the body-centred lattice they are Sommerville's, all congruent."""
    cells = []
    for order in itertools.permutations(range(3)):
        path = [np.zeros(3)]
        for k in order:
            path.append(path[-1] + np.eye(3)[k])
        if np.linalg.det((np.array(path) @ lattice)[1:] - np.array(path[0]) @ lattice) < 0:
            path[0], path[1] = path[1], path[0]
        cells.append([tuple(q) for q in path])
    return cells


if __name__ == "__main__":
    kind, top = sys.argv[1], int(sys.argv[2])
    if kind == "triangles":
        lattice = np.array([[1, 0], [0.5, math.sqrt(3) / 2]])
        cells = [[(0, 0), (1, 0), (0, 1)], [(1, 0), (1, 1), (0, 1)]]
    else:
        lattice = np.array([[-1, 1, 1], [1, -1, 1], [1, 1, -1]]) / 2
        cells = kuhn(lattice)
    d = len(lattice)
    special = [0, math.pi, 2 * math.pi / 3, -2 * math.pi / 3]
    waves = [np.array(k) for k in itertools.product(special, repeat=d)]
    for p in range(top + 1):
        some = waves if d == 2 or p < 3 else waves[:2]
        print(p, f"{max(radius(d, p, lattice, cells, k) for k in some):.4f}", flush=True)
