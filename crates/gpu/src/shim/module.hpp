// The interface of a text compiled as a library of kernels, for the emulated driver (driver.cpp).
#pragma once

#include "shim.hpp"

namespace shim {

constexpr std::size_t MOST_PARAMETERS = 32;

// A kernel with any parameters; `call` depends on them. Templates are kept small: they take most of the
// compiler's time.
struct Kernel {
    const char* name;
    std::size_t sizes[MOST_PARAMETERS + 1];
    void (*kernel)();
    void (*call)(void (*kernel)(), void* const* arguments);
};

template <class T> T read(const void* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class... P, std::size_t... I>
void call(void (*kernel)(), void* const* arguments, std::index_sequence<I...>) {
    (void)arguments;
    reinterpret_cast<void (*)(P...)>(kernel)(read<P>(arguments[I])...);
}

template <class... P> Kernel kernel(const char* name, void (*kernel)(P...)) {
    static_assert(sizeof...(P) <= MOST_PARAMETERS, "a kernel with more parameters than there is room for");
    return {name, {sizeof(P)...}, reinterpret_cast<void (*)()>(kernel), [](void (*kernel)(), void* const* arguments) {
                call<P...>(kernel, arguments, std::index_sequence_for<P...>{});
            }};
}

// The kernels of the text, followed by one without a name.
extern const Kernel kernels[];

// A kernel and its arguments.
struct Call {
    const Kernel* kernel;
    void* const* arguments;
};

} // namespace shim

// The number of the kernel with this name; −1 if there is none.
extern "C" inline __attribute__((used)) int shim_find(const char* name) {
    for (int i = 0; shim::kernels[i].name; i++)
        if (std::strcmp(shim::kernels[i].name, name) == 0) return i;
    return -1;
}

// The size of a parameter; 0 beyond the last.
extern "C" inline __attribute__((used)) std::size_t shim_size(int kernel, std::size_t i) {
    return i < shim::MOST_PARAMETERS ? shim::kernels[kernel].sizes[i] : 0;
}

extern "C" inline __attribute__((used)) void shim_launch(int kernel, const unsigned* grid, const unsigned* block,
                                                         std::size_t shared, int descending, void** arguments) {
    const shim::Call call{&shim::kernels[kernel], arguments};
    const auto thread = [](const void* all) {
        const auto* call = static_cast<const shim::Call*>(all);
        call->kernel->call(call->kernel->kernel, call->arguments);
    };
    shim::launch({grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, descending != 0, thread, &call);
}
