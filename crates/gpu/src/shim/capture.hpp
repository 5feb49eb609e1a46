// The behaviour of the emulated driver while a stream is recorded: the rules of "stream capture" in NVIDIA's
// CUDA C++ Programming Guide.
//
// Waiting for a recorded stream, for one of its events or for its device is an error and invalidates the
// recording, whichever thread began it. Allocating, freeing or loading code invalidates the recording of the
// same thread; if the recording is of the global kind, in any thread. A stream joins a recording when it
// waits for an event of it, and must be waited for before the end.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using Work = std::function<void()>;

enum Code {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_IMAGE = 200,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    CAPTURED_EVENT = 907,
    CAPTURE_WRONG_THREAD = 908,
};

struct Stream;
// For each stream of a recording, how much of its work precedes a position.
using Seen = std::map<const Stream*, std::size_t>;

struct Graph { std::vector<Work> work; };

struct Capture {
    enum Mode { GLOBAL, OF_THE_THREAD, RELAXED };
    Stream* origin;
    int mode;
    std::thread::id thread;
    std::vector<Stream*> streams;
    std::vector<Work> work;
    bool invalid = false, over = false;
};

struct Stream {
    std::shared_ptr<Capture> capture;
    Seen seen;
};

struct Event {
    std::chrono::steady_clock::time_point time;
    std::shared_ptr<Capture> capture;  // of the stream that it was put into
    Seen seen;
};

// Locked by every function that reads or writes the following data, or the device's memory.
inline std::mutex lock;
inline std::vector<std::shared_ptr<Capture>> captures;

// Work put into a stream: recorded, or done at once.
inline int put(Stream* stream, Work work) {
    const std::lock_guard<std::mutex> guard(lock);
    if (!stream || !stream->capture) {
        work();
        return SUCCESS;
    }
    if (stream->capture->invalid) return CAPTURE_INVALIDATED;
    stream->capture->work.push_back(std::move(work));
    stream->seen[stream]++;
    return SUCCESS;
}

// For calls that belong to no stream and wait: allocation, and loading of code.
inline int outside_captures() {
    const std::lock_guard<std::mutex> guard(lock);
    int code = SUCCESS;
    for (const auto& capture : captures) {
        const bool own = capture->thread == std::this_thread::get_id() && capture->mode != Capture::RELAXED;
        if (own || capture->mode == Capture::GLOBAL) {
            capture->invalid = true;
            code = CAPTURE_UNSUPPORTED;
        }
    }
    return code;
}

// Waiting for an event on the host, or querying it.
inline int look_at(const Event* event) {
    const std::lock_guard<std::mutex> guard(lock);
    if (!event->capture) return SUCCESS;
    event->capture->invalid = true;
    return CAPTURED_EVENT;
}

extern "C" {

inline __attribute__((used)) int cuCtxSynchronize() {
    const std::lock_guard<std::mutex> guard(lock);
    for (const auto& capture : captures) capture->invalid = true;
    return captures.empty() ? SUCCESS : CAPTURE_UNSUPPORTED;
}

inline __attribute__((used)) int cuStreamCreate(Stream** stream, unsigned) {
    *stream = new Stream;
    return SUCCESS;
}
inline __attribute__((used)) int cuStreamCreateWithPriority(Stream** stream, unsigned flags, int) {
    return cuStreamCreate(stream, flags);
}
inline __attribute__((used)) int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    *least = *greatest = 0;
    return SUCCESS;
}
inline __attribute__((used)) int cuStreamDestroy_v2(Stream* stream) {
    const std::lock_guard<std::mutex> guard(lock);
    if (stream->capture) {
        auto& streams = stream->capture->streams;
        stream->capture->invalid = true;
        streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
    }
    delete stream;
    return SUCCESS;
}
inline __attribute__((used)) int cuStreamSynchronize(Stream* stream) {
    const std::lock_guard<std::mutex> guard(lock);
    if (!stream->capture) return SUCCESS;
    stream->capture->invalid = true;
    return CAPTURE_UNSUPPORTED;
}
inline __attribute__((used)) int cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
    const std::lock_guard<std::mutex> guard(lock);
    const auto refuse = [&](int code) {
        if (stream->capture) stream->capture->invalid = true;
        if (event->capture) event->capture->invalid = true;
        return code;
    };
    if (!event->capture) return stream->capture ? refuse(CAPTURE_ISOLATION) : SUCCESS;
    if (event->capture->over) return refuse(INVALID_VALUE);
    if (event->capture->invalid) return CAPTURE_INVALIDATED;
    if (!stream->capture) {
        stream->capture = event->capture;
        stream->seen.clear();
        stream->capture->streams.push_back(stream);
    }
    if (stream->capture != event->capture) return refuse(CAPTURE_MERGE);
    for (const auto& [other, n] : event->seen) stream->seen[other] = std::max(stream->seen[other], n);
    return SUCCESS;
}

inline __attribute__((used)) int cuStreamBeginCapture_v2(Stream* stream, int mode) {
    const std::lock_guard<std::mutex> guard(lock);
    if (stream->capture) return ILLEGAL_STATE;
    stream->capture = std::make_shared<Capture>(Capture{stream, mode, std::this_thread::get_id(), {stream}, {}});
    stream->seen.clear();
    captures.push_back(stream->capture);
    return SUCCESS;
}
inline __attribute__((used)) int cuStreamEndCapture(Stream* stream, Graph** graph) {
    const std::lock_guard<std::mutex> guard(lock);
    *graph = nullptr;
    const std::shared_ptr<Capture> capture = stream->capture;
    if (!capture) return ILLEGAL_STATE;
    if (capture->origin != stream) return CAPTURE_UNMATCHED;
    if (capture->mode != Capture::RELAXED && capture->thread != std::this_thread::get_id()) return CAPTURE_WRONG_THREAD;
    bool joined = true;
    for (Stream* branch : capture->streams) {
        joined = joined && stream->seen[branch] == branch->seen[branch];
        branch->capture = nullptr;
    }
    capture->over = true;
    captures.erase(std::remove(captures.begin(), captures.end(), capture), captures.end());
    if (capture->invalid) return CAPTURE_INVALIDATED;
    if (!joined) return CAPTURE_UNJOINED;
    *graph = new Graph{std::move(capture->work)};
    return SUCCESS;
}

inline __attribute__((used)) int cuEventCreate(Event** event, unsigned) {
    *event = new Event;
    return SUCCESS;
}
inline __attribute__((used)) int cuEventDestroy_v2(Event* event) {
    delete event;
    return SUCCESS;
}
inline __attribute__((used)) int cuEventRecord(Event* event, Stream* stream) {
    const std::lock_guard<std::mutex> guard(lock);
    if (stream->capture && stream->capture->invalid) return CAPTURE_INVALIDATED;
    event->capture = stream->capture;
    event->seen = stream->seen;
    event->time = std::chrono::steady_clock::now();
    return SUCCESS;
}
inline __attribute__((used)) int cuEventSynchronize(Event* event) { return look_at(event); }
inline __attribute__((used)) int cuEventQuery(Event* event) { return look_at(event); }
inline __attribute__((used)) int cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
    if (const int code = look_at(start)) return code;
    if (const int code = look_at(end)) return code;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
    return SUCCESS;
}

} // extern "C"
