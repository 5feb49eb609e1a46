"""Stable steps of embedded low-storage pairs on spectra of upwind discontinuous Galerkin operators.

Scalar advection with the upwind flux and a state at rest with the local Lax-Friedrichs flux, Legendre modes of degree p,
Bloch waves, in one dimension and sums of them in two. Prints for each degree the radius to which the spectrum may be scaled, and that by
the number of stages. Needs numpy:

    python3 pairs.py

Coefficients: Carpenter and Kennedy (1994); Kennedy, Carpenter and Lewis (2000), RK4(3)5[2R+]C; Ranocha, Dalcin, Parsani and
Ketcheson (2022), RK3(2)5[3S*+] and RK4(3)9[3S*+], by their stability polynomials.
"""

import numpy as np

# Coefficients of the stability polynomials, lowest power first.
POLYNOMIALS = {
    "lserk54": [1, 1, 1 / 2, 1 / 6, 1 / 24, 1 / 200],
    "RK4(3)5[2R+]C": [1, 1, 1 / 2, 1 / 6, 1 / 24, 0.00485436893203883],
    "rdpk35": [1, 1, 1 / 2, 1 / 6, 0.0317376781657794, 0.00274773265720576],
    "RK4(3)9[3S*+]": [1, 1, 1 / 2, 1 / 6, 1 / 24, 0.00782692954421411, 0.00107711192435155, 0.000102767530911335, 6.08429001894903e-06, 1.68649651372691e-07],
}


def modes(p):
    """Stiffness and ends of orthonormal Legendre modes on a cell of length one."""
    n = np.arange(p + 1)
    scale = np.sqrt(2 * n + 1)
    stiffness = np.where((n[:, None] > n) & ((n[:, None] - n) % 2 == 1), 2 * scale[:, None] * scale, 0)
    return stiffness, scale, scale * (-1.0) ** n


def spectra(p, angle):
    stiffness, right, left = modes(p)
    back, ahead = np.exp(-1j * angle), np.exp(1j * angle)
    upwind = stiffness - np.outer(right, right) + np.outer(left, right) * back
    rest = 0.5 * (np.outer(left, right) * back + np.outer(right, left) * ahead)
    rest = rest - 0.5 * (np.outer(right, right) + np.outer(left, left))
    return [np.linalg.eigvals(upwind), np.linalg.eigvals(rest)]


def spectrum(p):
    lines = [values for angle in np.linspace(0, 2 * np.pi, 41) for values in spectra(p, angle)]
    few = lines[::5]
    squares = [(a * x[:, None] + b * y).ravel() for x in few for y in few for a, b in ((1, 1), (1, 0.5), (0.2, 1))]
    values = np.concatenate(lines + squares)
    return values / np.abs(values).max()


def reach(polynomial, values):
    scales = np.arange(0.02, 12, 0.005)
    unstable = (s for s in scales if np.abs(np.polyval(polynomial[::-1], s * values)).max() > 1 + 1e-9)
    return next(unstable) - 0.005


for p in range(1, 8):
    values = spectrum(p)
    row = [(name, reach(c, values), len(c) - 1) for name, c in POLYNOMIALS.items()]
    print(p, "  ".join(f"{name} {r:.2f} ({r / stages:.3f} a stage)" for name, r, stages in row))
