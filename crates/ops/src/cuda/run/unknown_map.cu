// A linear map of the unknowns, the same at every point.
//
// Macros: STATE_REAL; FIELDS, unknowns; BLOCK, threads.

typedef unsigned int u32;
typedef unsigned long long u64;

// u <- A u for `n` points of a state, A in [row][column]. The values of a block are [row][field][lane], or
// [field][row] if `planar` (with one lane); `rows` is the number of rows of a block.
extern "C" __global__ void __launch_bounds__(BLOCK)
    map_unknowns(STATE_REAL* u, u64 n, u32 rows, u32 lanes, u32 planar, const double* a) {
    const u64 point = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (point >= n) return;
    const u64 of_block = (u64)rows * lanes, block = point / of_block;
    const u32 within = (u32)(point % of_block), row = within / lanes, lane = within % lanes;
    const u32 stride = planar ? rows : lanes;
    u += block * of_block * FIELDS + (planar ? row : row * FIELDS * lanes) + lane;
    STATE_REAL values[FIELDS];
#pragma unroll
    for (u32 k = 0; k < FIELDS; ++k) values[k] = u[(u64)k * stride];
#pragma unroll
    for (u32 k = 0; k < FIELDS; ++k) {
        STATE_REAL sum = 0;
#pragma unroll
        for (u32 j = 0; j < FIELDS; ++j) sum += (STATE_REAL)a[k * FIELDS + j] * values[j];
        u[(u64)k * stride] = sum;
    }
}
