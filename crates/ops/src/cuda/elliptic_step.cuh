// What becomes of A x where it is formed: itself, the residual b − A x, or a step of a smoother with the
// inverse diagonal. The vectors come and go once, beside the arithmetic of the operator.
#pragma once

// A x; with `b` the residual; with the inverse diagonal too, x + beta D^-1 (b - A x).
template <class T>
DG_DEVICE T finish_step(double beta, T ax, const T* x, const T* inverse_diagonal, const T* b, unsigned long long i) {
    if (!b) return ax;
    const T r = dg_load(b + i) - ax;
    return inverse_diagonal ? dg_load(x + i) + T(beta) * (dg_load(inverse_diagonal + i) * r) : r;
}
