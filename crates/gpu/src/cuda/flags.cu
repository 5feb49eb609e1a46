// Flags of messages between devices as kernels of one block: counts in memory that only grow.
//
// The k-th message of a route may be written when the flag `free`, which the other device writes, is at least
// k + 1; it is there when the flag `arrived` is. `counts` has two numbers for each route, of messages sent
// and received; only this device has them. A wait ends also when `stop` is not 0: then nothing is valid any
// more. Each launch can be repeated without an effect, if `counts` are what they were.

typedef unsigned long long word;

// The flags of a route; the address is 0 where there is no message in that direction.
struct Route {
    word arrived, free, arrived_there, free_there;
};

__device__ void raise(word flag, unsigned value) {
    // What this thread has seen is there before the flag.
    __threadfence_system();
    *reinterpret_cast<volatile unsigned*>(flag) = value;
}

__device__ void wait(word flag, unsigned value, const unsigned* stop) {
    const volatile unsigned* at = reinterpret_cast<const volatile unsigned*>(flag);
    while (static_cast<int>(*at - value) < 0 && *static_cast<const volatile unsigned*>(stop) == 0) __nanosleep(20);
    __threadfence_system();
}

// Raises the flags of received messages and waits for those of the other devices.
__device__ void meet(const Route* routes, const unsigned* counts, unsigned n, const unsigned* stop) {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        if (routes[i].arrived_there) raise(routes[i].arrived_there, counts[2 * i] + 1);
    // No thread waits before all have raised their flags.
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        if (routes[i].arrived) wait(routes[i].arrived, counts[2 * i + 1] + 1, stop);
    __syncthreads();
}

__device__ void count(unsigned* counts, unsigned n) {
    for (unsigned i = threadIdx.x; i < 2 * n; i += blockDim.x) counts[i]++;
}

// Before messages are written. With `grants`, the places of this device are free from here on.
extern "C" __global__ void open_messages(const Route* routes, const unsigned* counts, unsigned n, unsigned grants,
                                         const unsigned* stop) {
    if (grants)
        for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
            if (routes[i].free_there) raise(routes[i].free_there, counts[2 * i + 1] + 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        if (routes[i].free) wait(routes[i].free, counts[2 * i] + 1, stop);
}

// After messages are written, before others are read.
extern "C" __global__ void close_messages(const Route* routes, unsigned* counts, unsigned n, const unsigned* stop) {
    meet(routes, counts, n, stop);
    count(counts, n);
}

// After messages are read: their places are free.
extern "C" __global__ void release_messages(const Route* routes, const unsigned* counts, unsigned n) {
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        if (routes[i].free_there) raise(routes[i].free_there, counts[2 * i + 1] + 1);
}

struct Least {
    static __device__ word of(word a, word b) { return a < b ? a : b; }
};
struct Sum {
    static __device__ word of(word a, word b) { return a + b; }
};

// Numbers of all ranks in one, values[i] with i < count. `places` are the addresses of this rank's rows on
// all ranks, which lie one after the other in `rows`, two for each rank, in turn: a rank that sends its next
// row has received those of the others, so that they no longer read the one before the last. The routes are
// those to the other ranks.
template <class Combined>
__device__ void combine(word* values, const word* places, const word* rows, unsigned ranks, unsigned stride,
                        unsigned count_of_values, const Route* routes, unsigned* counts, unsigned n,
                        const unsigned* stop) {
    const unsigned turn = (counts[0] & 1) * stride;
    for (unsigned i = threadIdx.x; i < count_of_values; i += blockDim.x) {
        const word value = values[i];
        for (unsigned rank = 0; rank < ranks; rank++) reinterpret_cast<word*>(places[rank])[turn + i] = value;
    }
    __threadfence_system();
    __syncthreads();
    meet(routes, counts, n, stop);
    const volatile word* row = rows + turn;
    for (unsigned i = threadIdx.x; i < count_of_values; i += blockDim.x) {
        word all = row[i];
        for (unsigned rank = 1; rank < ranks; rank++) all = Combined::of(all, row[2 * rank * stride + i]);
        values[i] = all;
    }
    count(counts, n);
}

extern "C" __global__ void combine_least(word* values, const word* places, const word* rows, unsigned ranks,
                                         unsigned stride, unsigned count_of_values, const Route* routes,
                                         unsigned* counts, unsigned n, const unsigned* stop) {
    combine<Least>(values, places, rows, ranks, stride, count_of_values, routes, counts, n, stop);
}

extern "C" __global__ void combine_sums(word* values, const word* places, const word* rows, unsigned ranks,
                                        unsigned stride, unsigned count_of_values, const Route* routes,
                                        unsigned* counts, unsigned n, const unsigned* stop) {
    combine<Sum>(values, places, rows, ranks, stride, count_of_values, routes, counts, n, stop);
}
