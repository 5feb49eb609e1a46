// Copies entries between vectors and messages: to_{at_i} = from_{of_i}, i < n; without a list i itself.
// Numbers without a place, ~0, are left out.
#include "device.cuh"

extern "C" __global__ void copy_entries(const real* from, const unsigned* of, real* to, const unsigned* at,
                                        unsigned long long n) {
    const unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i >= n || (at && at[i] == ~0u)) return;
    to[at ? at[i] : i] = from[of ? of[i] : i];
}
