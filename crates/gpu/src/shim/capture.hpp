// The behaviour of the emulated driver while a stream is recorded: the rules of "stream capture" in NVIDIA's
// CUDA C++ Programming Guide.
//
// Waiting for a recorded stream, for one of its events or for its device is an error and invalidates the
// recording, whichever thread began it. Allocating, freeing or loading code invalidates the recording of the
// same thread; if the recording is of the global kind, in any thread. A stream joins a recording when it
// waits for an event of it, and must be waited for before the end.
#pragma once

#include "late.hpp"

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

enum Code {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_IMAGE = 200,
    ILLEGAL_STATE = 401,
    NOT_FOUND = 500,
    NOT_READY = 600,
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
    Queue queue;
};

struct Event {
    std::shared_ptr<Clock::time_point> time = std::make_shared<Clock::time_point>();
    std::shared_ptr<Capture> capture;  // of the stream that it was put into
    Seen seen;
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
    std::size_t place = 0;  // in that stream
};

inline std::vector<std::shared_ptr<Capture>> captures;

// The queue of a stream; the stream 0 has one of its own.
inline Queue& queue_of(Stream* stream) {
    static auto* zero = new Queue;
    if (stream) return stream->queue;
    auto& queues = device().queues;
    if (std::find(queues.begin(), queues.end(), zero) == queues.end()) queues.insert(queues.begin(), zero);
    return *zero;
}

// Work put into a stream: recorded, or done, at once or late.
inline int put(Stream* stream, Work work) {
    const std::lock_guard<std::mutex> guard(lock);
    if (!stream || !stream->capture) {
        if (is_late()) put_late(queue_of(stream), std::move(work));
        else work();
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
inline int look_at(const Event* event, bool waits) {
    Guard guard(lock);
    if (!event->capture) {
        const std::shared_ptr<Progress> progress = event->progress;
        if (waits) wait_for(guard, *progress, event->place);
        device().asked = Clock::now();
        return progress->done < event->place ? NOT_READY : SUCCESS;
    }
    event->capture->invalid = true;
    return CAPTURED_EVENT;
}

extern "C" {

inline __attribute__((used)) int cuCtxSynchronize() {
    Guard guard(lock);
    for (const auto& capture : captures) capture->invalid = true;
    if (captures.empty()) wait_for_all(guard);
    return captures.empty() ? SUCCESS : CAPTURE_UNSUPPORTED;
}

inline __attribute__((used)) int cuStreamCreate(Stream** stream, unsigned) {
    const std::lock_guard<std::mutex> guard(lock);
    *stream = new Stream;
    device().queues.push_back(&(*stream)->queue);
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
    Guard guard(lock);
    wait_for(guard, *stream->queue.progress, stream->queue.progress->put);
    auto& queues = device().queues;
    queues.erase(std::remove(queues.begin(), queues.end(), &stream->queue), queues.end());
    if (stream->capture) {
        auto& streams = stream->capture->streams;
        stream->capture->invalid = true;
        streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
    }
    delete stream;
    return SUCCESS;
}
inline __attribute__((used)) int cuStreamSynchronize(Stream* stream) {
    Guard guard(lock);
    if (!stream || !stream->capture) {
        const std::shared_ptr<Progress> progress = queue_of(stream).progress;
        wait_for(guard, *progress, progress->put);
        return SUCCESS;
    }
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
    if (!event->capture && stream->capture) return refuse(CAPTURE_ISOLATION);
    if (!event->capture) {
        const auto ready = [progress = event->progress, n = event->place] { return progress->done >= n; };
        if (is_late()) put_late(stream->queue, nullptr, ready);
        return SUCCESS;
    }
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
    *event->time = Clock::now();
    if (is_late() && !stream->capture) {
        put_late(stream->queue, [time = event->time] { *time = Clock::now(); });
        event->progress = stream->queue.progress;
        event->place = event->progress->put;
    }
    return SUCCESS;
}
inline __attribute__((used)) int cuEventSynchronize(Event* event) { return look_at(event, true); }
inline __attribute__((used)) int cuEventQuery(Event* event) { return look_at(event, false); }
inline __attribute__((used)) int cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
    if (const int code = look_at(start, false)) return code;
    if (const int code = look_at(end, false)) return code;
    *milliseconds = std::chrono::duration<float, std::milli>(*end->time - *start->time).count();
    return SUCCESS;
}

} // extern "C"
