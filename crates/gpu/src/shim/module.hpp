// One text as a library of kernels, for the emulated driver (driver.cpp): what it asks of a module.
#pragma once

#include "shim.hpp"

namespace shim {

// A kernel of any parameters; `call` knows them. Little is left to templates: they take the compiler most of its time.
struct Kernel {
    const char* name;
    std::vector<std::size_t> sizes;
    void (*kernel)();
    void (*call)(void (*kernel)(), void** arguments);
};

template <class T> T read(const void* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class... P, std::size_t... I>
void call(void (*kernel)(), void** arguments, std::index_sequence<I...>) {
    (void)arguments;
    reinterpret_cast<void (*)(P...)>(kernel)(read<P>(arguments[I])...);
}

template <class... P> Kernel kernel(const char* name, void (*kernel)(P...)) {
    return {name, {sizeof(P)...}, reinterpret_cast<void (*)()>(kernel), [](void (*kernel)(), void** arguments) {
                call<P...>(kernel, arguments, std::index_sequence_for<P...>{});
            }};
}

const std::vector<Kernel>& kernels();

} // namespace shim

// The number of the kernel of a name; −1 if there is none.
extern "C" inline __attribute__((used)) int shim_find(const char* name) {
    const std::vector<shim::Kernel>& all = shim::kernels();
    for (std::size_t i = 0; i < all.size(); i++)
        if (std::strcmp(all[i].name, name) == 0) return static_cast<int>(i);
    return -1;
}

// The size of a parameter; 0 beyond the last.
extern "C" inline __attribute__((used)) std::size_t shim_size(int kernel, std::size_t i) {
    const std::vector<std::size_t>& sizes = shim::kernels()[static_cast<std::size_t>(kernel)].sizes;
    return i < sizes.size() ? sizes[i] : 0;
}

extern "C" inline __attribute__((used)) void shim_launch(int kernel, const unsigned* grid, const unsigned* block,
                                                         std::size_t shared, int descending, void** arguments) {
    const shim::Kernel& wanted = shim::kernels()[static_cast<std::size_t>(kernel)];
    shim::launch({grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, descending != 0,
                 [&wanted, arguments] { wanted.call(wanted.kernel, arguments); });
}
