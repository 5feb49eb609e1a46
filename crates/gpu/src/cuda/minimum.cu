// The smallest of unsigned numbers of all ranks.

// values[i] = min over ranks of rows[rank * stride + i], i < count.
extern "C" __global__ void minimum(unsigned long long* values, const unsigned long long* rows, unsigned ranks,
                                   unsigned stride, unsigned count) {
    const unsigned i = threadIdx.x;
    if (i >= count) return;
    unsigned long long least = rows[i];
    for (unsigned rank = 1; rank < ranks; rank++) {
        const unsigned long long other = rows[rank * stride + i];
        least = other < least ? other : least;
    }
    values[i] = least;
}
