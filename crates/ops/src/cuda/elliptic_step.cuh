// What becomes of A x where it is formed: itself, the residual b − A x, or a step of a smoother with the inverse diagonal. The
// vectors come and go once, beside the arithmetic of the operator.
#pragma once

struct Step {
    double grow, back, beta;

    // A x; with `b` the residual; with the inverse diagonal too, grow x + back y + beta D^-1 (b - A x), where y is what the
    // result replaces. With back = 0 it is not read.
    template <class T>
    DG_DEVICE T finish(T ax, const T* x, const T* y, const T* inverse_diagonal, const T* b, unsigned long long i) const {
        if (!b) return ax;
        const T r = dg_load(b + i) - ax;
        if (!inverse_diagonal) return r;
        const T moved = T(grow) * dg_load(x + i) + T(beta) * (dg_load(inverse_diagonal + i) * r);
        return back == 0.0 ? moved : moved + T(back) * y[i];
    }
};
