// The main program for the kernels of one text: reads a launch from a file, runs it, writes the memory back.
//
//     program INPUT OUTPUT
//
// All numbers are u64, little-endian. INPUT: number of the kernel; grid x y z; block x y z; bytes of dynamic
// shared memory; descending; n buffers, each size and bytes; n constants, each number, size and bytes; n
// arguments, each kind (0 value, 1 address), size and bytes, then n addresses in it, each position, buffer
// and offset. OUTPUT: the bytes of the buffers.
#pragma once

#include "shim.hpp"

#include <functional>
#include <vector>

namespace shim {

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

struct Constant { void* start; std::size_t bytes; };
typedef std::function<void()> (*Binder)(const std::vector<Argument>&);

struct Input {
    std::FILE* file;
    void bytes(void* to, std::size_t n) {
        if (n > 0 && std::fread(to, 1, n, file) != n) fail("the input ends early");
    }
    std::uint64_t number() {
        std::uint64_t value;
        bytes(&value, sizeof value);
        return value;
    }
    dim3 triple() {
        dim3 t;
        t.x = static_cast<unsigned>(number());
        t.y = static_cast<unsigned>(number());
        t.z = static_cast<unsigned>(number());
        return t;
    }
};

struct Buffer { unsigned char* start; std::size_t bytes; };

inline int run(int argc, char** argv, const std::vector<Binder>& kernels, const std::vector<Constant>& constants) {
    if (argc != 3) fail("two arguments are expected");
    Input input{std::fopen(argv[1], "rb")};
    if (!input.file) fail("the input cannot be opened");
    const std::uint64_t kernel = input.number();
    const dim3 grid = input.triple(), block = input.triple();
    const std::size_t shared = input.number();
    const bool descending = input.number() != 0;

    std::vector<Buffer> buffers(input.number());
    for (Buffer& buffer : buffers) {
        buffer.bytes = input.number();
        void* start = nullptr;
        // The alignment of the device's allocator.
        if (posix_memalign(&start, 256, buffer.bytes) != 0) fail("no memory for a buffer");
        buffer.start = static_cast<unsigned char*>(start);
        input.bytes(buffer.start, buffer.bytes);
    }
    for (std::uint64_t n = input.number(); n > 0; n--) {
        const Constant& constant = constants.at(input.number());
        if (input.number() != constant.bytes) fail("a constant is set with another size than its own");
        input.bytes(constant.start, constant.bytes);
    }
    std::vector<Argument> arguments(input.number());
    for (Argument& argument : arguments) {
        argument.buffer = input.number() != 0;
        argument.bytes.resize(input.number());
        input.bytes(argument.bytes.data(), argument.bytes.size());
        for (std::uint64_t n = input.number(); n > 0; n--) {
            const std::size_t place = input.number();
            const unsigned char* address = buffers.at(input.number()).start + input.number();
            if (place + sizeof address > argument.bytes.size()) fail("an address lies outside of its argument");
            std::memcpy(argument.bytes.data() + place, &address, sizeof address);
        }
    }
    std::fclose(input.file);
    const std::function<void()> call = kernels.at(kernel)(arguments);
    const auto thread = [](const void* call) { (*static_cast<const std::function<void()>*>(call))(); };
    launch(grid, block, shared, descending, thread, &call);

    std::FILE* output = std::fopen(argv[2], "wb");
    if (!output) fail("the output cannot be opened");
    for (const Buffer& buffer : buffers)
        if (std::fwrite(buffer.start, 1, buffer.bytes, output) != buffer.bytes) fail("the output cannot be written");
    return std::fclose(output) == 0 ? 0 : 4;
}

} // namespace shim
