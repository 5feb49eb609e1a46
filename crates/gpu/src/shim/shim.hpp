// A block of threads on the host: the same kernel text, compiled as C++17, run by fibres.
//
// Each thread of a block is a fibre with a stack of its own. It runs until a collective operation (a barrier, an exchange
// between lanes), where it gives way; when all lanes of its warp, or all threads of its block, have arrived at the
// same operation, they go on. Threads that can never meet (one has ended, or waits elsewhere) end the program with a
// sentence. Blocks run one after the other. Fibres run in ascending or in descending order: a kernel whose
// result depends on it lacks a barrier.
//
// Checked by the sanitizers that this is compiled with: every access to global memory (each buffer has its exact size),
// to static and dynamic shared memory, to local arrays; alignment of vector types; integer overflow.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <math.h>
#include <sys/mman.h>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SHIM_LEAVE(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define SHIM_ARRIVE(saved, bottom, size) __sanitizer_finish_switch_fiber(saved, bottom, size)
#define SHIM_FORBID(start, size) ASAN_POISON_MEMORY_REGION(start, size)
#define SHIM_ALLOW(start, size) ASAN_UNPOISON_MEMORY_REGION(start, size)
#else
#define SHIM_LEAVE(save, bottom, size) ((void)(save))
#define SHIM_ARRIVE(saved, bottom, size) ((void)(saved))
#define SHIM_FORBID(start, size) ((void)0)
#define SHIM_ALLOW(start, size) ((void)0)
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

// ---- types -------------------------------------------------------------------------------------

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(16) double4 { double x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline double4 make_double4(double x, double y, double z, double w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

// ---- functions of the device that C++ lacks ----------------------------------------------------

template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T max(T a, T b) { return a < b ? b : a; }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
template <class T> T __ldg(const T* address) { return *address; }
template <class T> T __ldcs(const T* address) { return *address; }
template <class T> void __stcs(T* address, T value) { *address = value; }
template <class To, class From> To shim_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "one size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
inline long long __double_as_longlong(double x) { return shim_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return shim_bits<double>(x); }
inline int __float_as_int(float x) { return shim_bits<int>(x); }
inline float __int_as_float(int x) { return shim_bits<float>(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }

namespace shim {

constexpr unsigned WARP = 32;
constexpr std::size_t STACK = 256 << 10;
// Most dynamic shared memory of a block: that of sm_90.
constexpr std::size_t SHARED = 227 << 10;

// ---- fibres ------------------------------------------------------------------------------------

#if defined(__x86_64__)
// Saves the registers that a call must keep on the stack, stores the stack pointer in *save and takes up `next`.
extern "C" void shim_switch(void** save, void* next);
asm(R"(
.text
.type shim_switch, @function
shim_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size shim_switch, .-shim_switch
)");

struct Place {
    void* stack_pointer = nullptr;
    void start(unsigned char* stack, void (*entry)()) {
        // After the `ret` into `entry` the stack is as after a call: 8 bytes off a multiple of 16.
        void** top = reinterpret_cast<void**>(stack + STACK) - 2;
        top[1] = nullptr;
        top[0] = reinterpret_cast<void*>(entry);
        for (int i = 1; i <= 6; i++) top[-i] = nullptr;
        stack_pointer = top - 6;
    }
};
inline void change(Place& from, Place& to) { shim_switch(&from.stack_pointer, to.stack_pointer); }
#else
} // namespace shim
#include <ucontext.h>
namespace shim {
struct Place {
    ucontext_t context;
    void start(unsigned char* stack, void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
    }
};
inline void change(Place& from, Place& to) { swapcontext(&from.context, &to.context); }
#endif

enum class State { ready, at_warp, at_pair, at_block, ended };

struct Copy { void* to; const void* from; std::size_t bytes; unsigned group; };

struct Thread {
    Place place;
    unsigned char* stack = nullptr;
    void* fake_stack = nullptr;
    State state = State::ready;
    const char* operation = "";
    uint3 index{};
    unsigned parity = 0;
    // Copies under way, oldest first, and the number of groups closed so far.
    std::vector<Copy> copies;
    unsigned groups = 0;
};

struct Machine {
    std::vector<Thread> threads;
    unsigned current = 0;
    Place scheduler;
    void* fake_stack = nullptr;
    const void* bottom = nullptr;
    std::size_t size = 0;
    std::function<void()> kernel;
    bool descending = false;
    // What lanes show each other: two sets in turn, since a fast lane may be one operation ahead.
    std::vector<unsigned char> slots;
};
inline Machine machine;
alignas(128) inline unsigned char shared_memory[SHARED];

[[noreturn]] inline void fail(const char* why) {
    std::fprintf(stderr, "block (%u, %u, %u): %s\n", blockIdx.x, blockIdx.y, blockIdx.z, why);
    for (unsigned t = 0; t < machine.threads.size(); t++) {
        const Thread& thread = machine.threads[t];
        if (thread.state == State::ready) std::fprintf(stderr, "  thread %u runs\n", t);
        else if (thread.state == State::ended) std::fprintf(stderr, "  thread %u has ended\n", t);
        else std::fprintf(stderr, "  thread %u waits at %s\n", t, thread.operation);
    }
    std::_Exit(3);
}

inline void give_way() {
    Thread& self = machine.threads[machine.current];
    SHIM_LEAVE(&self.fake_stack, machine.bottom, machine.size);
    change(self.place, machine.scheduler);
    SHIM_ARRIVE(self.fake_stack, &machine.bottom, &machine.size);
}

inline void run_thread() {
    SHIM_ARRIVE(nullptr, &machine.bottom, &machine.size);
    machine.kernel();
    Thread& self = machine.threads[machine.current];
    self.state = State::ended;
    SHIM_LEAVE(nullptr, machine.bottom, machine.size);
    change(self.place, machine.scheduler);
    std::abort();
}

inline void resume(unsigned t) {
    Thread& thread = machine.threads[t];
    machine.current = t;
    threadIdx = thread.index;
    SHIM_LEAVE(&machine.fake_stack, thread.stack, STACK);
    change(machine.scheduler, thread.place);
    SHIM_ARRIVE(machine.fake_stack, nullptr, nullptr);
}

// Lets threads `first` to `end` go on if all of them wait for each other.
inline bool release(unsigned first, unsigned end, State state) {
    for (unsigned t = first; t < end; t++)
        if (machine.threads[t].state != state) return false;
    for (unsigned t = first; t < end; t++) {
        if (std::strcmp(machine.threads[t].operation, machine.threads[first].operation) != 0)
            fail("threads wait for each other at different operations");
    }
    for (unsigned t = first; t < end; t++) machine.threads[t].state = State::ready;
    return true;
}

inline void run_block() {
    const unsigned n = static_cast<unsigned>(machine.threads.size());
    for (unsigned t = 0; t < n; t++) {
        Thread& thread = machine.threads[t];
        thread.place.start(thread.stack, run_thread);
        thread.state = State::ready;
        thread.parity = thread.groups = 0;
        thread.copies.clear();
    }
    for (;;) {
        unsigned ended = 0;
        for (unsigned i = 0; i < n; i++) {
            const unsigned t = machine.descending ? n - 1 - i : i;
            if (machine.threads[t].state == State::ready) resume(t);
            ended += machine.threads[t].state == State::ended;
        }
        if (ended == n) return;
        bool released = release(0, n, State::at_block);
        for (unsigned first = 0; first < n; first += WARP)
            released |= release(first, first + WARP < n ? first + WARP : n, State::at_warp);
        for (unsigned first = 0; first + 2 * WARP <= n; first += 2 * WARP) released |= release(first, first + 2 * WARP, State::at_pair);
        if (!released) fail("threads wait for others that never come");
    }
}

// ---- collective operations ---------------------------------------------------------------------

inline void meet(State state, const char* operation) {
    Thread& self = machine.threads[machine.current];
    self.state = state;
    self.operation = operation;
    give_way();
}
inline void meet_warp(const char* operation) { meet(State::at_warp, operation); }
inline void meet_pair(const char* operation) { meet(State::at_pair, operation); }
inline void meet_block(const char* operation) { meet(State::at_block, operation); }

inline unsigned lane() { return machine.current % WARP; }

constexpr std::size_t SLOT = 16;

// Shows `value` to the warp and returns the set of slots that all lanes have written.
template <class T> const unsigned char* show(const char* operation, T value) {
    static_assert(sizeof(T) <= SLOT && std::is_trivially_copyable<T>::value, "at most 16 plain bytes");
    Thread& self = machine.threads[machine.current];
    const unsigned warp = machine.current / WARP;
    unsigned char* set = machine.slots.data() + (2 * warp + self.parity) * WARP * SLOT;
    self.parity ^= 1;
    std::memcpy(set + lane() * SLOT, &value, sizeof value);
    meet_warp(operation);
    return set;
}

template <class T> T shown(const unsigned char* set, unsigned from) {
    if (machine.current / WARP * WARP + from >= machine.threads.size()) fail("a lane is asked that the block lacks");
    T value;
    std::memcpy(&value, set + from * SLOT, sizeof value);
    return value;
}

template <class T> T exchange(const char* operation, T value, unsigned from) {
    return shown<T>(show(operation, value), from);
}

inline unsigned ballot(const char* operation, bool yes) {
    const unsigned char* set = show(operation, static_cast<unsigned>(yes));
    unsigned bits = 0;
    const std::size_t first = machine.current / WARP * WARP;
    for (unsigned l = 0; l < WARP && first + l < machine.threads.size(); l++) bits |= shown<unsigned>(set, l) << l;
    return bits;
}

inline void mma_f64_8x8x4(double& c0, double& c1, double a, double b) {
    const unsigned char* set = show("dg_mma_f64_8x8x4", double2{a, b});
    const unsigned row = lane() / 4, column = 2 * (lane() % 4);
    for (unsigned k = 0; k < 4; k++) {
        const double a_k = shown<double2>(set, 4 * row + k).x;
        c0 = fma(a_k, shown<double2>(set, 4 * column + k).y, c0);
        c1 = fma(a_k, shown<double2>(set, 4 * (column + 1) + k).y, c1);
    }
}

// The same in numbers of 11 bits: those of A are rounded, those of B cut off.
inline void mma_tf32_8x8x4(float& c0, float& c1, float a, float b) {
    const auto cut = [](float x, unsigned add) {
        unsigned bits;
        std::memcpy(&bits, &x, 4);
        bits = (bits + add) & 0xffffe000u;
        std::memcpy(&x, &bits, 4);
        return x;
    };
    const unsigned char* set = show("dg_mma_tf32_16x8x4", double2{cut(a, 0x1000u), cut(b, 0)});
    const unsigned row = lane() / 4, column = 2 * (lane() % 4);
    double sum[2] = {c0, c1};
    for (unsigned k = 0; k < 4; k++) {
        const double a_k = shown<double2>(set, 4 * row + k).x;
        sum[0] += a_k * shown<double2>(set, 4 * column + k).y;
        sum[1] += a_k * shown<double2>(set, 4 * (column + 1) + k).y;
    }
    c0 = static_cast<float>(sum[0]);
    c1 = static_cast<float>(sum[1]);
}

// ---- asynchronous copies -----------------------------------------------------------------------

// Made when they are waited for; until then the target holds NaN, so that reading too early, or writing where somebody
// still reads, shows.
inline void cp_async(void* to, const void* from, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
        fail("an asynchronous copy is not aligned to its size");
    std::memset(to, 0xff, bytes);
    Thread& self = machine.threads[machine.current];
    self.copies.push_back({to, from, bytes, self.groups});
}
inline void cp_async_commit() { machine.threads[machine.current].groups++; }
inline void cp_async_wait(unsigned under_way) {
    Thread& self = machine.threads[machine.current];
    std::size_t done = 0;
    // Group g is closed if g < groups; all but the last `under_way` closed ones are waited for.
    while (done < self.copies.size() && self.copies[done].group + under_way < self.groups) {
        std::memcpy(self.copies[done].to, self.copies[done].from, self.copies[done].bytes);
        done++;
    }
    self.copies.erase(self.copies.begin(), self.copies.begin() + static_cast<std::ptrdiff_t>(done));
}

// ---- memory and numbers ------------------------------------------------------------------------

inline unsigned char* dynamic_shared() { return shared_memory; }

// The upper 20 bits of a mantissa, as the device's approximations have.
inline double coarse(double x) {
    std::uint64_t bits = shim_bits<std::uint64_t>(x);
    return std::isfinite(x) ? shim_bits<double>(bits & ~0xffffffffull) : x;
}

// ---- launches ----------------------------------------------------------------------------------

// Stacks of the threads so far: they are kept, with their pages.
inline std::vector<unsigned char*> stacks;

inline void launch(dim3 grid, dim3 block, std::size_t shared, bool descending, std::function<void()> kernel) {
    const unsigned n = block.x * block.y * block.z;
    gridDim = grid;
    blockDim = block;
    machine.threads = std::vector<Thread>(n);
    machine.slots.assign((n + WARP - 1) / WARP * 2 * WARP * SLOT, 0);
    machine.kernel = std::move(kernel);
    machine.descending = descending;
    const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    for (unsigned t = 0; t < n; t++) {
        Thread& thread = machine.threads[t];
        thread.index = {t % block.x, t / block.x % block.y, t / block.x / block.y};
        if (t == stacks.size()) {
            void* stack = mmap(nullptr, STACK, protection, flags, -1, 0);
            if (stack == MAP_FAILED) fail("no memory for the threads' stacks");
            stacks.push_back(static_cast<unsigned char*>(stack));
        }
        thread.stack = stacks[t];
    }
    if (shared > SHARED) fail("more dynamic shared memory than a block can have");
    const std::uint64_t n_blocks = std::uint64_t(grid.x) * grid.y * grid.z;
    for (std::uint64_t i = 0; i < n_blocks; i++) {
        const std::uint64_t b = descending ? n_blocks - 1 - i : i;
        blockIdx.x = static_cast<unsigned>(b % grid.x);
        blockIdx.y = static_cast<unsigned>(b / grid.x % grid.y);
        blockIdx.z = static_cast<unsigned>(b / grid.x / grid.y);
        SHIM_ALLOW(shared_memory, SHARED);
        std::memset(shared_memory, 0xff, shared);
        SHIM_FORBID(shared_memory + shared, SHARED - shared);
        run_block();
    }
    SHIM_ALLOW(shared_memory, SHARED);
    for (Thread& thread : machine.threads) {
        // What stands there next is not of this stack.
        SHIM_ALLOW(thread.stack, STACK);
    }
}

// One argument: bytes of a value, or (if `buffer`) the address of memory that was read from the file.
struct Argument { bool buffer; std::vector<unsigned char> bytes; };

template <class T> T take(const std::vector<Argument>& arguments, std::size_t i) {
    if (i >= arguments.size()) fail("a kernel with more parameters than arguments");
    if (arguments[i].bytes.size() != sizeof(T)) fail("an argument differs in size from its parameter");
    if (arguments[i].buffer != std::is_pointer<T>::value) fail("a value where the kernel has a pointer, or the reverse");
    T value;
    std::memcpy(&value, arguments[i].bytes.data(), sizeof value);
    return value;
}

template <class... P, std::size_t... I>
std::function<void()> closure(void (*kernel)(P...), const std::vector<Argument>& arguments, std::index_sequence<I...>) {
    if (sizeof...(P) != arguments.size()) fail("a kernel with another number of parameters than arguments");
    return [=] { kernel(take<P>(arguments, I)...); };
}
template <class... P> std::function<void()> closure(void (*kernel)(P...), const std::vector<Argument>& arguments) {
    return closure(kernel, arguments, std::index_sequence_for<P...>{});
}

} // namespace shim

// ---- CUDA's own names of the collectives -------------------------------------------------------

inline void __syncthreads() { shim::meet_block("__syncthreads"); }
inline void __syncwarp(unsigned = 0xffffffffu) { shim::meet_warp("__syncwarp"); }
template <class T> T __shfl_sync(unsigned, T value, unsigned from) {
    return shim::exchange("__shfl_sync", value, from % 32);
}
template <class T> T __shfl_xor_sync(unsigned, T value, unsigned mask) {
    return shim::exchange("__shfl_xor_sync", value, (shim::lane() ^ mask) % 32);
}
template <class T> T __shfl_down_sync(unsigned, T value, unsigned n) {
    const unsigned from = shim::lane() + n;
    return shim::exchange("__shfl_down_sync", value, from < 32 ? from : shim::lane());
}
inline unsigned __ballot_sync(unsigned, bool yes) { return shim::ballot("__ballot_sync", yes); }
