// An emulated NVIDIA driver with its run-time compiler, as far as this crate calls them, that runs kernels on
// the host. This library replaces theirs in a process started by `Emulator` (emulator.rs).
//
// The compiler turns a text into a library of the host under sanitizers (module.hpp); its machine code is the
// path of that library. The driver's memory is the heap; each array has its exact size and initially contains
// NaN. All work is done at once, in any stream, unless the user wants it late (late.hpp); recorded work is done
// when its graph is launched (capture.hpp has the rules for recordings). Every launch runs twice, with threads and blocks in ascending and in
// descending order, and the complete device memory must be the same afterwards; a difference is a race.
// Errors of a kernel end the process with a message.
#include "capture.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <atomic>
#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <map>
#include <memory>
#include <sched.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Address = unsigned long long;
using Bytes = std::vector<unsigned char>;

// The device has few multiprocessors, so that blocks process several elements.
constexpr int MULTIPROCESSORS = 2, BLOCKS = 1;
constexpr int SHARED = 227 << 10, SHARED_UNASKED = 48 << 10, THREADS = 1024;
constexpr std::size_t MEMORY = std::size_t(1) << 30;

std::map<Address, std::size_t> arrays;
std::size_t in_use = 0;
// Arrays whose memory other processes may write: they are not part of the comparison of launches.
std::set<Address> shared_arrays;
// Memory of the host that the device reads and writes when the work is done; others are copied by the call.
std::map<const void*, std::size_t> pinned;

// Whether a copy from or to memory of the host must be over when the call returns.
bool is_of_the_call(const void* at, Stream* stream) {
    const std::lock_guard<std::mutex> guard(lock);
    if (!is_late() || (stream && stream->capture)) return false;
    const auto next = pinned.upper_bound(at);
    if (next == pinned.begin()) return true;
    const auto& [start, bytes] = *std::prev(next);
    return static_cast<const char*>(at) >= static_cast<const char*>(start) + bytes;
}

[[noreturn]] void fail(const std::string& why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::_Exit(3);
}

struct Module {
    void* library = nullptr;
    std::string name;
    int (*find)(const char*) = nullptr;
    std::size_t (*size)(int, std::size_t) = nullptr;
    void (*launch)(int, const unsigned*, const unsigned*, std::size_t, int, void**) = nullptr;
};
struct Function { Module* module; int number; std::string name; int shared = SHARED_UNASKED; };

// The arrays of this process alone.
std::map<Address, std::size_t> own_arrays() {
    std::map<Address, std::size_t> own = arrays;
    for (const Address start : shared_arrays) own.erase(start);
    return own;
}

std::vector<Bytes> snapshot() {
    std::vector<Bytes> all;
    for (const auto& [start, bytes] : own_arrays()) {
        const auto* first = reinterpret_cast<const unsigned char*>(start);
        all.emplace_back(first, first + bytes);
    }
    return all;
}

// All of the device's memory, once with threads in each order.
void run(const Function& f, const unsigned* grid, const unsigned* block, unsigned shared, void** arguments) {
    const std::vector<Bytes> before = snapshot();
    f.module->launch(f.number, grid, block, shared, 0, arguments);
    const std::vector<Bytes> up = snapshot();
    std::size_t i = 0;
    const std::map<Address, std::size_t> own = own_arrays();
    for (const auto& [start, bytes] : own) std::memcpy(reinterpret_cast<void*>(start), before[i++].data(), bytes);
    f.module->launch(f.number, grid, block, shared, 1, arguments);
    i = 0;
    for (const auto& [start, bytes] : own) {
        const auto* down = reinterpret_cast<const unsigned char*>(start);
        if (std::memcmp(down, up[i].data(), bytes) != 0) {
            const std::size_t b = std::mismatch(down, down + bytes, up[i].data()).first - down;
            fail(f.module->name + ": " + f.name + " writes another byte " + std::to_string(b) + " of an array of " +
                     std::to_string(bytes) + " bytes when threads run in another order: a race");
        }
        i++;
    }
}

} // namespace

extern "C" {

// ---- driver ------------------------------------------------------------------------------------

int cuDriverGetVersion(int* version) { *version = 13000; return SUCCESS; }
int cuInit(unsigned) { return SUCCESS; }
int cuGetErrorString(int, const char** words) { *words = "refused by the emulated driver"; return SUCCESS; }
int cuDeviceGetCount(int* n) { *n = 1; return SUCCESS; }
int cuDeviceGet(int* device, int i) { *device = i; return SUCCESS; }
int cuDeviceGetName(char* name, int n, int) {
    std::snprintf(name, static_cast<std::size_t>(n), "%s", "emulated by the host");
    return SUCCESS;
}
int cuDeviceGetUuid(char* bytes, int) { std::memset(bytes, 0, 16); return SUCCESS; }
int cuDeviceGetUuid_v2(char* bytes, int device) { return cuDeviceGetUuid(bytes, device); }
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { *bytes = MEMORY; return SUCCESS; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
    switch (attribute) {
    case 16: *value = MULTIPROCESSORS; break;
    case 38: *value = 1 << 20; break;       // cache
    case 75: *value = 9; break;             // compute capability
    case 76: *value = 0; break;
    case 81: *value = SHARED + 1024; break; // of a multiprocessor
    case 97: *value = SHARED; break;
    default: return INVALID_VALUE;
    }
    return SUCCESS;
}
int cuDevicePrimaryCtxRetain(void** context, int) { *context = &lock; return SUCCESS; }
int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
int cuCtxSetCurrent(void*) { return SUCCESS; }

int cuGraphGetNodes(Graph* graph, void**, std::size_t* n) { *n = graph->work.size(); return SUCCESS; }
int cuGraphInstantiateWithFlags(Graph** exec, Graph* graph, unsigned long long) {
    *exec = new Graph(*graph);
    return SUCCESS;
}
int cuGraphDestroy(Graph* graph) { delete graph; return SUCCESS; }
int cuGraphExecDestroy(Graph* graph) {
    Guard guard(lock);
    wait_for_all(guard);
    delete graph;
    return SUCCESS;
}
int cuGraphLaunch(Graph* graph, Stream* stream) {
    return put(stream, [graph] { for (const Work& work : graph->work) work(); });
}

int cuMemAlloc_v2(Address* start, std::size_t bytes) {
    if (const int code = outside_captures()) return code;
    const std::lock_guard<std::mutex> guard(lock);
    void* memory = nullptr;
    // Aligned to pages, so that other processes can have a part of them.
    if (bytes > MEMORY - in_use || posix_memalign(&memory, 4096, bytes) != 0) return OUT_OF_MEMORY;
    std::memset(memory, 0xff, bytes);
    *start = reinterpret_cast<Address>(memory);
    arrays[*start] = bytes;
    in_use += bytes;
    return SUCCESS;
}
int cuMemFree_v2(Address start) {
    if (const int code = outside_captures()) return code;
    Guard guard(lock);
    wait_for_all(guard);
    const auto found = arrays.find(start);
    if (found == arrays.end()) return INVALID_VALUE;
    in_use -= found->second;
    arrays.erase(found);
    shared_arrays.erase(start);
    std::free(reinterpret_cast<void*>(start));
    return SUCCESS;
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *free = MEMORY - in_use;
    *total = MEMORY;
    return SUCCESS;
}
int cuMemHostAlloc(void** start, std::size_t bytes, unsigned) {
    if (const int code = outside_captures()) return code;
    if (posix_memalign(start, 4096, bytes) != 0) return OUT_OF_MEMORY;
    const std::lock_guard<std::mutex> guard(lock);
    pinned[*start] = bytes;
    return SUCCESS;
}
int cuMemFreeHost(void* start) {
    if (const int code = outside_captures()) return code;
    Guard guard(lock);
    wait_for_all(guard);
    pinned.erase(start);
    std::free(start);
    return SUCCESS;
}
int cuMemsetD8Async(Address to, unsigned char value, std::size_t n, Stream* stream) {
    return put(stream, [=] { std::memset(reinterpret_cast<void*>(to), value, n); });
}
int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t n, Stream* stream) {
    if (is_of_the_call(from, stream)) {
        const auto* first = static_cast<const unsigned char*>(from);
        const auto copy = std::make_shared<Bytes>(first, first + n);
        return put(stream, [=] { std::memcpy(reinterpret_cast<void*>(to), copy->data(), n); });
    }
    return put(stream, [=] { std::memcpy(reinterpret_cast<void*>(to), from, n); });
}
int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t n, Stream* stream) {
    const bool waits = is_of_the_call(to, stream);
    const int code = put(stream, [=] { std::memcpy(to, reinterpret_cast<const void*>(from), n); });
    return code == SUCCESS && waits ? cuStreamSynchronize(stream) : code;
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t n, Stream* stream) {
    return put(stream, [=] { std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), n); });
}

int cuMemsetD32Async(Address to, unsigned value, std::size_t n, Stream* stream) {
    return put(stream, [=] { std::fill_n(reinterpret_cast<unsigned*>(to), n, value); });
}

// ---- memory of other processes -------------------------------------------------------------------

int cuDeviceGetP2PAttribute(int* value, int, int, int) { *value = 1; return SUCCESS; }

int cuMemGetAddressRange_v2(Address* base, std::size_t* bytes, Address at) {
    const std::lock_guard<std::mutex> guard(lock);
    auto found = arrays.upper_bound(at);
    if (found == arrays.begin()) return INVALID_VALUE;
    --found;
    if (at > found->first + found->second) return INVALID_VALUE;
    *base = found->first;
    *bytes = found->second;
    return SUCCESS;
}

// The memory of an array becomes that of a file without a name, at the same address. Another process opens
// the file through this one.
struct Handle { int process, file; std::size_t bytes; char rest[48]; };
static_assert(sizeof(Handle) == 64, "as CUipcMemHandle");

int cuIpcGetMemHandle(Handle* handle, Address start) {
    const std::lock_guard<std::mutex> guard(lock);
    static std::map<Address, Handle> known;
    const auto found = arrays.find(start);
    if (found == arrays.end()) return INVALID_VALUE;
    if (shared_arrays.count(start) == 0) {
        const std::size_t page = 4096, bytes = (found->second + page - 1) / page * page;
        const int file = memfd_create("array", 0);
        // By the system call: the sanitizer would find the bytes between arrays.
        if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
            syscall(SYS_pwrite64, file, start, bytes, 0) != static_cast<long>(bytes) ||
            mmap(reinterpret_cast<void*>(start), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            return OUT_OF_MEMORY;
        known[start] = Handle{getpid(), file, bytes, {}};
        shared_arrays.insert(start);
    }
    *handle = known[start];
    return SUCCESS;
}
int cuIpcOpenMemHandle_v2(Address* start, Handle handle, unsigned) {
    const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
    const int file = open(path.c_str(), O_RDWR);
    if (file < 0) return INVALID_VALUE;
    void* memory = mmap(nullptr, handle.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return OUT_OF_MEMORY;
    *start = reinterpret_cast<Address>(memory);
    return SUCCESS;
}
int cuIpcCloseMemHandle(Address) { return SUCCESS; }

union MemoryOperation {
    struct { unsigned kind; Address at; union { unsigned value; std::uint64_t wide; }; unsigned flags; Address alias; } op;
    std::uint64_t pad[6];
};
// Waits in vain for half a minute at most.
int cuStreamBatchMemOp_v2(Stream* stream, unsigned n, const MemoryOperation* batch, unsigned) {
    std::vector<MemoryOperation> all(batch, batch + n);
    {
        const std::lock_guard<std::mutex> guard(lock);
        if (is_late() && !stream->capture) {
            for (const MemoryOperation& m : all) {
                auto* word = reinterpret_cast<unsigned*>(m.op.at);
                const unsigned value = m.op.value;
                if (m.op.kind == 2) put_late(stream->queue, [=] { __atomic_store_n(word, value, __ATOMIC_RELEASE); });
                else put_late(stream->queue, nullptr, [=] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; });
            }
            return SUCCESS;
        }
    }
    return put(stream, [all] {
        for (const MemoryOperation& m : all) {
            auto* word = reinterpret_cast<unsigned*>(m.op.at);
            const auto begun = std::chrono::steady_clock::now();
            if (m.op.kind == 2) __atomic_store_n(word, m.op.value, __ATOMIC_RELEASE);
            else
                while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != m.op.value) {
                    sched_yield();
                    if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(30)) fail("a stream waits in vain");
                }
        }
    });
}

int cuModuleLoadData(Module** module, const char* image) {
    if (const int code = outside_captures()) return code;
    auto* made = new Module;
    made->library = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    if (!made->library) {
        std::fprintf(stderr, "%s\n", dlerror());
        delete made;
        return INVALID_IMAGE;
    }
    made->name = reinterpret_cast<const char*>(dlsym(made->library, "shim_text"));
    made->find = reinterpret_cast<decltype(made->find)>(dlsym(made->library, "shim_find"));
    made->size = reinterpret_cast<decltype(made->size)>(dlsym(made->library, "shim_size"));
    made->launch = reinterpret_cast<decltype(made->launch)>(dlsym(made->library, "shim_launch"));
    *module = made;
    return SUCCESS;
}
// Modules have few functions: they stay loaded, and so does the library, since a report may still refer to
// its lines.
int cuModuleUnload(Module*) { return SUCCESS; }
int cuModuleGetFunction(Function** function, Module* module, const char* name) {
    const int number = module->find(name);
    if (number < 0) return NOT_FOUND;
    *function = new Function{module, number, name};
    return SUCCESS;
}
int cuModuleGetGlobal_v2(Address* start, std::size_t* bytes, Module* module, const char* name) {
    void* found = dlsym(module->library, name);
    Dl_info info;
    ElfW(Sym)* symbol = nullptr;
    if (!found || !dladdr1(found, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) || !symbol) return NOT_FOUND;
    *start = reinterpret_cast<Address>(found);
    *bytes = symbol->st_size;
    return SUCCESS;
}
int cuFuncGetAttribute(int* value, int attribute, Function*) {
    *value = attribute == 0 ? THREADS : attribute == 4 ? 32 : 0;
    return SUCCESS;
}
int cuFuncSetAttribute(Function* function, int attribute, int value) {
    if (attribute != 8 || value > SHARED) return INVALID_VALUE;
    if (value > function->shared) function->shared = value;
    return SUCCESS;
}
int cuFuncGetParamInfo(Function* function, std::size_t i, std::size_t* offset, std::size_t* size) {
    *offset = 0;
    *size = function->module->size(function->number, i);
    return *size > 0 ? SUCCESS : INVALID_VALUE;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*, int, std::size_t) {
    *blocks = BLOCKS;
    return SUCCESS;
}

int cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, Stream* stream, void** arguments, void**) {
    const std::uint64_t threads = std::uint64_t(bx) * by * bz;
    if (threads == 0 || threads > THREADS || gy > 65535 || gz > 65535 || shared > unsigned(function->shared))
        return INVALID_VALUE;
    // Arguments are copied now, as in the driver; the work may be done later.
    std::vector<Bytes> values;
    for (std::size_t i = 0, n; (n = function->module->size(function->number, i)) > 0; i++) {
        const auto* first = static_cast<const unsigned char*>(arguments[i]);
        values.emplace_back(first, first + n);
    }
    return put(stream, [=]() mutable {
        const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
        std::vector<void*> pointers;
        for (Bytes& value : values) pointers.push_back(value.data());
        run(*function, grid, block, shared, pointers.data());
    });
}

struct LaunchConfig {
    unsigned grid[3], block[3], shared;
    Stream* stream;
    void* attributes;
    unsigned n_attributes;
};
// Early launches are ordinary launches: all work is done in order.
int cuLaunchKernelEx(const LaunchConfig* c, Function* function, void** arguments, void** more) {
    return cuLaunchKernel(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared,
                          c->stream, arguments, more);
}

// ---- run-time compiler -------------------------------------------------------------------------

struct nvrtcText { std::string name, text, log, code; std::vector<std::pair<std::string, std::string>> headers; };

int nvrtcVersion(int* major, int* minor) { *major = 13; *minor = 0; return SUCCESS; }
int nvrtcCreateProgram(nvrtcText** made, const char* text, const char* name, int n, const char* const* bodies,
                       const char* const* names) {
    *made = new nvrtcText{name, text, "", "", {}};
    for (int i = 0; i < n; i++) (*made)->headers.emplace_back(names[i], bodies[i]);
    return SUCCESS;
}
int nvrtcDestroyProgram(nvrtcText** text) { delete *text; return SUCCESS; }
int nvrtcGetProgramLogSize(nvrtcText* text, std::size_t* n) { *n = text->log.size() + 1; return SUCCESS; }
int nvrtcGetProgramLog(nvrtcText* text, char* to) { std::strcpy(to, text->log.c_str()); return SUCCESS; }
int nvrtcGetCUBINSize(nvrtcText* text, std::size_t* n) { *n = text->code.size() + 1; return SUCCESS; }
int nvrtcGetCUBIN(nvrtcText* text, char* to) { std::strcpy(to, text->code.c_str()); return SUCCESS; }

} // extern "C"

namespace {

// The names after `__global__ void`, without launch bounds.
std::vector<std::string> kernel_names(const std::string& text) {
    std::vector<std::string> names;
    const std::string word = "__global__ void", bounds = "__launch_bounds__";
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
        const auto skip = [&] { at = text.find_first_not_of(" \n", at); };
        at += word.size();
        skip();
        if (text.compare(at, bounds.size(), bounds) == 0) {
            int depth = 0;
            at = text.find('(', at);
            do depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0; while (++at < text.size() && depth > 0);
            skip();
        }
        const std::size_t end = text.find('(', at);
        if (end != std::string::npos) names.push_back(text.substr(at, end - at));
    }
    return names;
}

// The text, then the headers that it includes, each once.
std::string with_headers(const nvrtcText& program) {
    std::string all = program.text;
    std::vector<bool> taken(program.headers.size(), false);
    for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < taken.size(); i++) {
            const auto& [name, text] = program.headers[i];
            if (taken[i] || all.find("#include \"" + name + "\"") == std::string::npos) continue;
            all += text;
            more = taken[i] = true;
        }
    }
    return all;
}

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The library of a text in the folder that other emulators use too (EMULATOR_CACHE of emulator.rs), beside all
// that it was compiled of: it is used for exactly this.
class Kept {
    std::string path, all;

public:
    Kept(const nvrtcText& program, const std::string& main) {
        const char* folder = std::getenv("DGSUITE_EMULATOR_KEPT");
        if (!folder) return;
        all = main;
        for (const auto& [name, text] : program.headers) all += "\n// " + name + "\n" + text;
        all += "\n// " + program.name + "\n" + program.text;
        path = std::string(folder) + "/" + std::to_string(std::hash<std::string>{}(all));
    }
    // A copy, since the same file loaded twice would be one library.
    bool copy_to(const std::string& to) const {
        if (path.empty() || read(path + ".txt") != all) return false;
        const std::string code = read(path + ".so");
        if (code.empty()) return false;
        write(to, code);
        for (const char* end : {".txt", ".so"}) utimensat(AT_FDCWD, (path + end).c_str(), nullptr, 0);
        return true;
    }
    // Each file appears as a whole, the text after the library.
    void keep(const std::string& code) const {
        if (path.empty()) return;
        static std::atomic<int> count{0};
        const std::string mark = "." + std::to_string(getpid()) + "-" + std::to_string(count++);
        const auto put = [&](const char* end, const std::string& bytes) {
            const std::string temporary = path + mark + end;
            write(temporary, bytes);
            return std::rename(temporary.c_str(), (path + end).c_str()) == 0;
        };
        if (put(".so", read(code))) put(".txt", all);
    }
};

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    if (!value) fail(std::string(name) + " is not set");
    return value;
}

} // namespace

extern "C" int nvrtcCompileProgram(nvrtcText* program, int n, const char* const* options) {
    static std::atomic<int> count{0};
    const std::string shim = variable("DGSUITE_EMULATOR");
    const std::string folder = shim + "/text-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    mkdir(folder.c_str(), 0755);
    for (const auto& [name, text] : program->headers) write(folder + "/" + name, text);
    write(folder + "/" + program->name, program->text);
    std::ostringstream main;
    main << "#include \"module.hpp\"\n";
    for (int i = 0; i < n; i++) {
        const std::string option = options[i], define = "--define-macro=";
        if (option.compare(0, define.size(), define) != 0) continue;
        const std::size_t equals = option.find('=', define.size());
        main << "#define " << option.substr(define.size(), equals - define.size()) << " " << option.substr(equals + 1) << "\n";
    }
    main << "#include \"" << program->name << "\"\n";
    main << "extern \"C\" const char shim_text[] = \"" << program->name << "\";\n";
    main << "const shim::Kernel shim::kernels[] = {\n";
    for (const std::string& name : kernel_names(with_headers(*program))) {
        main << "    kernel(\"" << name << "\", ::" << name << "),\n";
        program->log += "ptxas info    : Compiling entry function '" + name + "' for 'sm_90'\n" +
                        "ptxas info    : Used 32 registers\n";
    }
    main << "    {},\n};\n";
    write(folder + "/main.cpp", main.str());
    program->code = folder + "/module.so";
    const Kept kept(*program, main.str());
    if (kept.copy_to(program->code)) return SUCCESS;
    const std::string command = "cd '" + folder + "' && LD_PRELOAD= " + variable("DGSUITE_EMULATOR_COMPILER") + " -I'" +
                                shim + "' -shared -o module.so main.cpp '" + shim + "/libmachine.so' 2> log";
    const int status = std::system(command.c_str());
    if (status == 0) {
        kept.keep(program->code);
        return SUCCESS;
    }
    std::ostringstream log;
    log << std::ifstream(folder + "/log").rdbuf();
    program->log = log.str();
    return 6;
}
