// A row of the product of an element's dense matrix, [column][row], with NP numbers.
#pragma once

// `m` is the row's first entry; x(j) are the numbers.
template <typename X> DG_DEVICE real block_row(const real* m, const X& x) {
    real even = 0, odd = 0;
    int j = 0;
#pragma unroll 4
    for (; j + 1 < NP; j += 2) {
        even += dg_load(m + (unsigned long long)j * NP) * x(j);
        odd += dg_load(m + (unsigned long long)(j + 1) * NP) * x(j + 1);
    }
    if (j < NP) even += dg_load(m + (unsigned long long)j * NP) * x(j);
    return even + odd;
}
