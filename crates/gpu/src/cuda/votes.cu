// Numbers of all ranks in one: the smallest, or the sum. One block.

// Writes `values` to all `places`, i < count.
extern "C" __global__ void share(const unsigned long long* values, const unsigned long long* places, unsigned ranks,
                                 unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const unsigned long long value = values[i];
        for (unsigned rank = 0; rank < ranks; rank++) reinterpret_cast<unsigned long long*>(places[rank])[i] = value;
    }
}

// values[i] = min over ranks of rows[rank * stride + i], i < count.
extern "C" __global__ void minimum(unsigned long long* values, const unsigned long long* rows, unsigned ranks,
                                   unsigned stride, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        unsigned long long least = rows[i];
        for (unsigned rank = 1; rank < ranks; rank++) {
            const unsigned long long other = rows[rank * stride + i];
            least = other < least ? other : least;
        }
        values[i] = least;
    }
}

// values[i] = sum over ranks of rows[rank * stride + i], with wrapping, i < count.
extern "C" __global__ void total(unsigned long long* values, const unsigned long long* rows, unsigned ranks,
                                 unsigned stride, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        unsigned long long sum = 0;
        for (unsigned rank = 0; rank < ranks; rank++) sum += rows[rank * stride + i];
        values[i] = sum;
    }
}
