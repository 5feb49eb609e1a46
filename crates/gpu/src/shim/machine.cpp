// The fibres for the threads of a block (shim.hpp): the part that does not depend on the kernel's text.
#include "shim.hpp"

#include <chrono>
#include <sched.h>
#include <sys/mman.h>
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

#if defined(__x86_64__)
// Pushes the callee-saved registers, stores the stack pointer in *save and switches to `next`.
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
#else
#include <ucontext.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace shim {
namespace {

constexpr std::size_t STACK = 256 << 10;
// Largest dynamic shared memory of a block, as on sm_90.
constexpr std::size_t SHARED = 227 << 10;

// ---- fibres ------------------------------------------------------------------------------------

#if defined(__x86_64__)
struct Place {
    void* stack_pointer = nullptr;
    void start(unsigned char* stack, void (*entry)()) {
        // After the `ret` into `entry` the stack must look as after a call: 8 bytes off a multiple of 16.
        void** top = reinterpret_cast<void**>(stack + STACK) - 2;
        top[1] = nullptr;
        top[0] = reinterpret_cast<void*>(entry);
        for (int i = 1; i <= 6; i++) top[-i] = nullptr;
        stack_pointer = top - 6;
    }
};
void change(Place& from, Place& to) { shim_switch(&from.stack_pointer, to.stack_pointer); }
#else
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
void change(Place& from, Place& to) { swapcontext(&from.context, &to.context); }
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
    // Copies in flight, oldest first, and the number of groups closed so far.
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
    void (*kernel)(const void*) = nullptr;
    const void* arguments = nullptr;
    bool descending = false;
    // Data exchanged between lanes: two sets in turn, since a fast lane may be one operation ahead.
    std::vector<unsigned char> slots;
};
Machine machine;
alignas(128) unsigned char shared_memory[SHARED];

} // namespace

void fail(const char* why) {
    std::fprintf(stderr, "block (%u, %u, %u): %s\n", blockIdx.x, blockIdx.y, blockIdx.z, why);
    for (unsigned t = 0; t < machine.threads.size(); t++) {
        const Thread& thread = machine.threads[t];
        if (thread.state == State::ready) std::fprintf(stderr, "  thread %u runs\n", t);
        else if (thread.state == State::ended) std::fprintf(stderr, "  thread %u has ended\n", t);
        else std::fprintf(stderr, "  thread %u waits at %s\n", t, thread.operation);
    }
    std::_Exit(3);
}

namespace {

void give_way() {
    Thread& self = machine.threads[machine.current];
    SHIM_LEAVE(&self.fake_stack, machine.bottom, machine.size);
    change(self.place, machine.scheduler);
    SHIM_ARRIVE(self.fake_stack, &machine.bottom, &machine.size);
}

void run_thread() {
    SHIM_ARRIVE(nullptr, &machine.bottom, &machine.size);
    machine.kernel(machine.arguments);
    Thread& self = machine.threads[machine.current];
    self.state = State::ended;
    SHIM_LEAVE(nullptr, machine.bottom, machine.size);
    change(self.place, machine.scheduler);
    std::abort();
}

void resume(unsigned t) {
    Thread& thread = machine.threads[t];
    machine.current = t;
    threadIdx = thread.index;
    SHIM_LEAVE(&machine.fake_stack, thread.stack, STACK);
    change(machine.scheduler, thread.place);
    SHIM_ARRIVE(machine.fake_stack, nullptr, nullptr);
}

// Lets threads `first` to `end` continue if all of them wait for each other.
bool release(unsigned first, unsigned end, State state) {
    for (unsigned t = first; t < end; t++)
        if (machine.threads[t].state != state) return false;
    for (unsigned t = first; t < end; t++) {
        if (std::strcmp(machine.threads[t].operation, machine.threads[first].operation) != 0)
            fail("threads wait for each other at different operations");
    }
    for (unsigned t = first; t < end; t++) machine.threads[t].state = State::ready;
    return true;
}

void run_block() {
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

void meet(State state, const char* operation) {
    Thread& self = machine.threads[machine.current];
    self.state = state;
    self.operation = operation;
    give_way();
}

} // namespace

void meet_warp(const char* operation) { meet(State::at_warp, operation); }
void meet_pair(const char* operation) { meet(State::at_pair, operation); }
void meet_block(const char* operation) { meet(State::at_block, operation); }

unsigned lane() { return machine.current % WARP; }

const unsigned char* show(const char* operation, const void* value, std::size_t bytes) {
    Thread& self = machine.threads[machine.current];
    const unsigned warp = machine.current / WARP;
    unsigned char* set = machine.slots.data() + (2 * warp + self.parity) * WARP * SLOT;
    self.parity ^= 1;
    std::memcpy(set + lane() * SLOT, value, bytes);
    meet_warp(operation);
    return set;
}

const unsigned char* shown(const unsigned char* set, unsigned from) {
    if (machine.current / WARP * WARP + from >= machine.threads.size()) fail("a shuffle reads a lane that the block does not have");
    return set + from * SLOT;
}

namespace {

template <class T> T shown_as(const unsigned char* set, unsigned from) {
    T value;
    std::memcpy(&value, shown(set, from), sizeof value);
    return value;
}

} // namespace

unsigned ballot(const char* operation, bool yes) {
    const unsigned word = yes;
    const unsigned char* set = show(operation, &word, sizeof word);
    unsigned bits = 0;
    const std::size_t first = machine.current / WARP * WARP;
    for (unsigned l = 0; l < WARP && first + l < machine.threads.size(); l++) bits |= shown_as<unsigned>(set, l) << l;
    return bits;
}

void mma_f64_8x8x4(double& c0, double& c1, double a, double b) {
    const double2 pair{a, b};
    const unsigned char* set = show("dg_mma_f64_8x8x4", &pair, sizeof pair);
    const unsigned row = lane() / 4, column = 2 * (lane() % 4);
    for (unsigned k = 0; k < 4; k++) {
        const double a_k = shown_as<double2>(set, 4 * row + k).x;
        c0 = fma(a_k, shown_as<double2>(set, 4 * column + k).y, c0);
        c1 = fma(a_k, shown_as<double2>(set, 4 * (column + 1) + k).y, c1);
    }
}

void mma_tf32_8x8x4(float& c0, float& c1, float a, float b) {
    const auto cut = [](float x, unsigned add) {
        unsigned bits;
        std::memcpy(&bits, &x, 4);
        bits = (bits + add) & 0xffffe000u;
        std::memcpy(&x, &bits, 4);
        return x;
    };
    const double2 pair{cut(a, 0x1000u), cut(b, 0)};
    const unsigned char* set = show("dg_mma_tf32_16x8x4", &pair, sizeof pair);
    const unsigned row = lane() / 4, column = 2 * (lane() % 4);
    double sum[2] = {c0, c1};
    for (unsigned k = 0; k < 4; k++) {
        const double a_k = shown_as<double2>(set, 4 * row + k).x;
        sum[0] += a_k * shown_as<double2>(set, 4 * column + k).y;
        sum[1] += a_k * shown_as<double2>(set, 4 * (column + 1) + k).y;
    }
    c0 = static_cast<float>(sum[0]);
    c1 = static_cast<float>(sum[1]);
}

// ---- asynchronous copies -----------------------------------------------------------------------

void cp_async(void* to, const void* from, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 || reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
        fail("an asynchronous copy is not aligned to its size");
    std::memset(to, 0xff, bytes);
    Thread& self = machine.threads[machine.current];
    self.copies.push_back({to, from, bytes, self.groups});
}
void cp_async_commit() { machine.threads[machine.current].groups++; }
void cp_async_wait(unsigned under_way) {
    Thread& self = machine.threads[machine.current];
    std::size_t done = 0;
    // Group g is closed if g < groups; waits for all closed groups except the last `under_way`.
    while (done < self.copies.size() && self.copies[done].group + under_way < self.groups) {
        std::memcpy(self.copies[done].to, self.copies[done].from, self.copies[done].bytes);
        done++;
    }
    self.copies.erase(self.copies.begin(), self.copies.begin() + static_cast<std::ptrdiff_t>(done));
}

// ---- memory and numbers ------------------------------------------------------------------------

unsigned char* dynamic_shared() { return shared_memory; }

namespace {

// When the launch began.
std::chrono::steady_clock::time_point begun;

} // namespace

void pause() {
    sched_yield();
    if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(30)) fail("a kernel waits in vain");
}

double coarse(double x) {
    std::uint64_t bits = shim_bits<std::uint64_t>(x);
    return std::isfinite(x) ? shim_bits<double>(bits & ~0xffffffffull) : x;
}

// ---- launches ----------------------------------------------------------------------------------

namespace {

// Stacks of the threads so far: they are kept, with their pages.
std::vector<unsigned char*> stacks;

} // namespace

void launch(dim3 grid, dim3 block, std::size_t shared, bool descending, void (*kernel)(const void*), const void* arguments) {
    const unsigned n = block.x * block.y * block.z;
    gridDim = grid;
    blockDim = block;
    machine.threads = std::vector<Thread>(n);
    machine.slots.assign((n + WARP - 1) / WARP * 2 * WARP * SLOT, 0);
    machine.kernel = kernel;
    machine.arguments = arguments;
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
    begun = std::chrono::steady_clock::now();
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
        // The next contents do not belong to this stack.
        SHIM_ALLOW(thread.stack, STACK);
    }
}

} // namespace shim
