// Epilogues of A x: the product, the residual b − A x, or a smoother's step with the inverse diagonal.
//
// As the operator applies them at once, each vector is loaded and stored only once.
#pragma once

// Returns A x; with `b` the residual b − A x; with the inverse diagonal as well, x + beta D⁻¹ (b − A x).
template <class T>
DG_DEVICE T finish_step(double beta, T ax, const T* x, const T* inverse_diagonal, const T* b, unsigned long long i) {
    if (!b) return ax;
    const T r = dg_load(b + i) - ax;
    return inverse_diagonal ? dg_load(x + i) + T(beta) * (dg_load(inverse_diagonal + i) * r) : r;
}
